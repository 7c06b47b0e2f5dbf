"""Runs a controller inside the simulator, synchronized with the physics steps."""
