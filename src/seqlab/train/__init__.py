"""Training: a pure step, the loop around it, and the directory a run leaves behind."""
