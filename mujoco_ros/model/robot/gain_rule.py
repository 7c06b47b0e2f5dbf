"""The rule of gains that are derived from inertia, for PD gains and for velocity servos."""

import mujoco

BANDWIDTH_HZ = 25.0
"""Natural frequency of a joint under derived gains, with the largest inertia that it carries."""
DAMPING_RATIO = 1.0
"""Damping ratio of a joint under derived gains, with the largest inertia that it carries."""
LEAST_INERTIA = {mujoco.mjtJoint.mjJNT_HINGE: 1e-4, mujoco.mjtJoint.mjJNT_SLIDE: 1e-2}
"""Smallest inertia that gains are derived from [kg m² or kg]: about that of a small geared motor,
which many models of hands leave out."""
