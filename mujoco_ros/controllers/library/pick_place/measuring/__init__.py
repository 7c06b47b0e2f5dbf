"""Measurements of pick_place, and the failures that follow from them."""
