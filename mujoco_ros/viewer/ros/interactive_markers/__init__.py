"""The client of interactive markers."""
