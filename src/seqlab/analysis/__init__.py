"""What can be asked of a finished run."""
