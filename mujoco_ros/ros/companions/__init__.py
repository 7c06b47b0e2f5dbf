"""Processes beside the simulator's that show its state: cameras and viewer."""
