"""Imperfections of real sensors, buses and motors, as a scene or a profile declares them."""
