"""One kind of figure a file: data frame and options in, matplotlib figure out."""
