"""Balances, squats and sways humanoids and quadrupeds."""
