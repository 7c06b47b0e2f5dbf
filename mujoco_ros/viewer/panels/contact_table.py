"""A table of the contacts of the displayed state."""

import mujoco
import numpy as np

from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.viewer.panels.widgets import cell, number_cell, table, text

_MOST = 20
"""Contacts that are listed."""


def build_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Build a row per contact, with both bodies and the force between them; the largest first."""
    found = contact_forces(model, data)
    forces = np.linalg.norm(found.forces, axis=1)
    if not len(forces):
        text("No contacts.")
        return
    with table("contacts", [("Body", 1.0), ("Body", 1.0), ("Force", 0.0)]) as is_open:
        for index in np.argsort(-forces)[:_MOST] if is_open else ():
            for body in found.bodies[index]:
                cell(model.body(int(body)).name or f"body {body}")
            number_cell(f"{forces[index]:.1f} N")
    if len(forces) > _MOST:
        text(f"{len(forces) - _MOST} more")
