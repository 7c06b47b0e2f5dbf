"""The masses of links, compared with those of the file."""

import math
from dataclasses import dataclass

import mujoco

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import XACRO_SUFFIX, RobotConfig
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.urdf.importing.urdf_file import Urdf, read_urdf

_ROUNDING = 1e-9
"""Relative difference of masses that are the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkMass:
    """The mass of a link or body [kg].

    Attributes:
        name: Name of the link, without the prefix of its robot.
        model: Its mass in the simulated model; None for a link that is not a body there.
        file: Its mass in the file; None if the file has none.
        remark: Where the mass comes from, or why it differs; empty for the mass of the file.
    """

    name: str
    model: float | None
    file: float | None
    remark: str = ""


def read_robot_urdf(assembly: Assembly, config: RobotConfig, part: Part) -> Urdf | None:
    """Return the URDF of a robot, with xacro expanded; None for another format."""
    path = assembly.config.path(config.model)
    if path.suffix in (".urdf", XACRO_SUFFIX) or part.urdf is not None:
        return read_urdf(path, part.urdf)
    return None


def link_masses(
    model: mujoco.MjModel, robot: RobotLayout, part: Part, urdf: Urdf | None
) -> tuple[LinkMass, ...]:
    """Return the masses of a robot's links, in the order of the model.

    Args:
        model: The model.
        robot: The robot.
        part: Its part of the scene.
        urdf: Its URDF; None if its model is no URDF.
    """
    bodies = {
        model.body(body).name.removeprefix(robot.prefix): float(model.body_mass[body])
        for body in robot.bodies
    }
    if urdf is not None:
        return (
            *(_of_link(name, mass, urdf) for name, mass in bodies.items()),
            *(_lost(name, urdf) for name in urdf.links if name not in bodies),
        )
    if part.spec is None:
        return tuple(
            LinkMass(name=name, model=mass, file=None, remark="compiled model")
            for name, mass in bodies.items()
        )
    explicit = {body.name: float(body.mass) for body in part.spec.bodies if body.explicitinertial}
    return tuple(
        _compared(name, mass, explicit.get(name), "from the shapes" if mass else "")
        for name, mass in bodies.items()
    )


def _of_link(name: str, mass: float, urdf: Urdf) -> LinkMass:
    link = urdf.links.get(name)
    file = link.inertial.mass if link and link.inertial else None
    return _compared(name, mass, file, "from the solid collision shapes" if mass else "")


def _compared(name: str, mass: float, file: float | None, derived: str) -> LinkMass:
    if file is None:
        return LinkMass(name=name, model=mass, file=None, remark=derived)
    same = math.isclose(mass, file, rel_tol=_ROUNDING)
    return LinkMass(name=name, model=mass, file=file, remark="" if same else "differs")


def _lost(name: str, urdf: Urdf) -> LinkMass:
    inertial = urdf.links[name].inertial
    remark = "the world" if name == urdf.root else "merged with its child"
    return LinkMass(name=name, model=None, file=inertial.mass if inertial else None, remark=remark)
