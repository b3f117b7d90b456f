"""Pure functions and small modules that mixers, models and placements are made of."""
