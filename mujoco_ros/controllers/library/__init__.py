"""The shipped controllers."""
