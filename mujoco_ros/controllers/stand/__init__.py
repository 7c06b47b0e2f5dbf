"""Stands, squats and sways: humanoids and quadrupeds."""
