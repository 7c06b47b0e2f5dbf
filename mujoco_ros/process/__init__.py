"""Child processes: supervision, and workers that answer requests."""
