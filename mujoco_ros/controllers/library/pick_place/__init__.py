"""Picks an object up from a table and places it elsewhere."""
