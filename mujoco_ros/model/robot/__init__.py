"""The elements of a robot in a compiled model, resolved to addresses."""
