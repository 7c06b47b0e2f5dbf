"""Processes that the measurements run: the simulator with probes, and its clients."""
