"""Executables: the command lines of the package."""
