"""Position encodings, one a file; `base.Position` is none at all."""
