"""Collision checks on a private copy of the scene."""
