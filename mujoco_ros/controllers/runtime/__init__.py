"""Runs a controller inside the simulator, in step with the physics."""
