"""Trials of the shipped controllers."""
