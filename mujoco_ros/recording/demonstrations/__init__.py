"""Demonstrations of tasks as datasets of the library LeRobot."""
