"""Cameras and lidars, rendered and published by a child process."""
