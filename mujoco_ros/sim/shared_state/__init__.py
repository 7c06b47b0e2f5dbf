"""The state of a running simulation, for other processes to read without asking."""
