"""Imperfect sensors, buses and motors in the simulation."""
