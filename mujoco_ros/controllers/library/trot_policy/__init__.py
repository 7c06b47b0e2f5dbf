"""Controller of a quadruped that trots with a commanded velocity, by a trained policy."""
