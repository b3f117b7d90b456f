"""From one config to many runs: points, ids, and the executor that trains them."""
