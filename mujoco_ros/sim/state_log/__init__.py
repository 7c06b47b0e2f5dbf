"""The log of the full state of every step: writer and reader."""
