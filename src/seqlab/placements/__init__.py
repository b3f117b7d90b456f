"""Where normalisation and residual stand around the sublayers of a layer, one a file."""
