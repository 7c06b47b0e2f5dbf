"""Compiled MuJoCo models as URDF."""
