"""Trot of a quadruped by inverse dynamics."""
