"""The shipped extensions."""
