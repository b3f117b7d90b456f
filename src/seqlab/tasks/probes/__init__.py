"""Generated tasks that ask one question about an architecture."""
