"""Estimation of the parameters of a robot's joints and drives from a recording."""
