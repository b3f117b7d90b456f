"""Models: a stack of layers, a decoder-only language model, an encoder-decoder."""
