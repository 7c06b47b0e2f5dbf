"""Estimation of what no sensor measures, from the signals of a robot."""
