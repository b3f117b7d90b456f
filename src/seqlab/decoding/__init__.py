"""Decoding over any model with a carry."""
