"""Measurements of the simulator, compared with limits: ``python -m benchmark``."""
