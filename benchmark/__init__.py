"""Measures the simulator as it runs, and compares it with limits: ``python -m benchmark``."""
