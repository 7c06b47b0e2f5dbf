"""Child processes: start and end, supervision with heartbeats, workers that answer requests."""
