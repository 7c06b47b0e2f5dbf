"""The Cartesian controller: motion of a frame by the joints above it."""
