"""The log of the full state: written beside the physics, read with NumPy."""
