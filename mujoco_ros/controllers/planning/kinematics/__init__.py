"""Kinematics and dynamics of a chain of joints."""
