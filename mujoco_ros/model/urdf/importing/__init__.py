"""URDF files as MuJoCo specs."""
