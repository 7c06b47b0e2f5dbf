"""The node `mujoco_cameras`: topics of cameras, lidars and contacts."""
