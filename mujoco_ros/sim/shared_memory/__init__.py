"""The state of a running simulation in shared memory, for other processes."""
