"""The physics thread: pacing, run control, lockstep, statistics."""
