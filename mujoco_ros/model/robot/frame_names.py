"""What coordinate frames are called; the same in TF and in an exported URDF."""

from collections.abc import Container

OPTICAL_WXYZ = (0.0, 1.0, 0.0, 0.0)
"""Turns a MuJoCo camera (looks along -z, y up) into its optical frame (z forward, y down)."""
CAMERA_WXYZ = (0.5, 0.5, -0.5, -0.5)
"""Turns a camera link (REP-103: looks along x, z up) into its MuJoCo camera."""


def site_frame(site: str, bodies: Container[str]) -> str:
    """Return the frame of a site: its name, told apart from a body of the same name."""
    return f"{site}_site" if site in bodies else site


def optical_frame(camera: str) -> str:
    """Return the optical frame of a camera (REP-103)."""
    return f"{camera}_optical_frame"
