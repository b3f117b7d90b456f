"""Tokenizers: from text to numbers and back, one a file."""
