"""Files to MjModel: scenes, URDF import, merging under prefixes."""
