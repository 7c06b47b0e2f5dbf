"""Commands and settings of the Cartesian controller."""
