"""TF frames and robot descriptions."""
