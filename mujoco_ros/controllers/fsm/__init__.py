"""Finite-state machines from tables, the same in simulation and on the robot."""
