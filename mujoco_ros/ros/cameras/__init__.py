"""The node `mujoco_cameras`: what is computed of the simulated state beside the simulation."""
