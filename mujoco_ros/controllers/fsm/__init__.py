"""Finite-state machines from tables, identical in simulation and on the robot."""
