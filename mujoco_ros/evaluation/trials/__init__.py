"""What the shipped controllers are put to."""
