"""Sensors of a robot: site sensors, cameras and lidars."""
