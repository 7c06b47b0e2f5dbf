"""Thin command lines."""
