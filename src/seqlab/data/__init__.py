"""Corpora, tokenizers and the path from text to batches."""
