"""Joint trajectories: splines, tracking, and the joint trajectory controller."""
