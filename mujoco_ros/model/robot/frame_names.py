"""Names of coordinate frames, the same in TF and in an exported URDF."""

from collections.abc import Container

OPTICAL_WXYZ = (0.0, 1.0, 0.0, 0.0)
"""Optical frame (z forward, y down) in the frame of a MuJoCo camera (-z forward, y up)."""
CAMERA_WXYZ = (0.5, 0.5, -0.5, -0.5)
"""MuJoCo camera in the frame of a camera link (REP-103: x forward, z up)."""


def site_frame(site: str, bodies: Container[str]) -> str:
    """Return the frame of a site: its name, with a suffix if a body has the name."""
    return f"{site}_site" if site in bodies else site


def optical_frame(camera: str) -> str:
    """Return the optical frame of a camera (REP-103)."""
    return f"{camera}_optical_frame"
