"""Ways of mixing information along time, one a file."""
