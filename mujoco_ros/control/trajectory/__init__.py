"""Joint trajectories: checks, splines and the joint trajectory controller."""
