"""The report of a model: what is in it, how it stands, and how it is commanded."""

import copy
import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.inspection import interfaces
from mujoco_ros.inspection.joints import JointEntry, joint_entries, measure_standstill
from mujoco_ros.model.errors import one_line
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.robot.wheels import Wheels
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.collisions import overlap_depths
from mujoco_ros.model.scene.config import RobotConfig, load_scene
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.urdf.importing.markup import XACRO_SUFFIX, parse_robot
from mujoco_ros.model.urdf.importing.urdf_file import Urdf, read_urdf
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.state_vector import state_vector
from mujoco_ros.sim.stepping.sparse_newton import SolverCheck, check_solver


@contextmanager
def captured_messages(level: int = logging.INFO) -> Iterator[list[str]]:
    """Collect the messages that the package logs, each once, instead of showing them."""
    messages: list[str] = []
    logger, handler = logging.getLogger("mujoco_ros"), _Collector(messages)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__()
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        message = one_line(record.getMessage())
        if message not in self._messages:
            self._messages.append(message)


_READ = {
    "robot": {"link", "joint", "material", "mujoco", "ros2_control", "transmission", "gazebo"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "material": {"color"},
}
"""Elements that the import reads, by the element that contains them."""


def ignored_elements(path: Path, text: str | None = None) -> dict[str, int]:
    """Return how often a URDF file, or `text` in its place, contains elements that are not read.

    The keys are ``<element>``, or ``<parent>/<element>`` below the top. The import itself warns of
    elements in ``<mujoco>``, ``<ros2_control>``, ``<transmission>`` and ``<gazebo>``.
    """
    robot = parse_robot(path, text)
    found: Counter[str] = Counter()
    for parent, known in _READ.items():
        # <transmission> and <ros2_control> contain joints, too.
        elements = [robot] if parent == "robot" else robot.findall(parent)
        for element in elements:
            for child in element:
                if child.tag not in known:
                    found[child.tag if parent == "robot" else f"{parent}/{child.tag}"] += 1
    return dict(found)


_ROUNDING = 1e-9  # relative difference of masses that are the same


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkMass:
    """The mass of a link or body [kg]."""

    name: str  # name of the link, without the prefix of its robot
    model: float | None  # its mass in the simulated model; None for a link that is not a body there
    file: float | None  # its mass in the file; None if the file has none
    remark: str = ""  # where the mass comes from, or why it differs; empty for the mass of the file


def read_robot_urdf(assembly: Assembly, config: RobotConfig, part: ScenePart) -> Urdf | None:
    """Return the URDF of a robot, with xacro expanded; None for another format."""
    path = assembly.config.path(config.model)
    if path.suffix.lower() in (".urdf", XACRO_SUFFIX) or part.urdf is not None:
        return read_urdf(path, part.urdf)
    return None


def link_masses(
    model: mujoco.MjModel, robot: RobotLayout, part: ScenePart, urdf: Urdf | None
) -> tuple[LinkMass, ...]:
    """Return the masses of a robot's links in the order of the model; then links without a body."""
    shapes, files = "from the shapes", {}
    if urdf is not None:
        shapes = "from the solid collision shapes"
        files = {name: link.inertial.mass for name, link in urdf.links.items() if link.inertial}
    elif part.spec is not None:
        explicit = [body for body in part.spec.bodies if body.explicitinertial]
        files = {body.name: float(body.mass) for body in explicit}
    masses = {}
    for body in robot.bodies:
        name, mass = model.body(body).name.removeprefix(robot.prefix), float(model.body_mass[body])
        remark = shapes if mass else ""
        if name in files:
            same = math.isclose(mass, files[name], rel_tol=_ROUNDING)
            remark = "" if same else "differs"
        elif urdf is None and part.spec is None:
            remark = "compiled model"
        masses[name] = LinkMass(name=name, model=mass, file=files.get(name), remark=remark)
    for name in () if urdf is None else urdf.links:
        if name not in masses:
            remark = "the world" if urdf and name == urdf.root else "merged with its child"
            masses[name] = LinkMass(name=name, model=None, file=files.get(name), remark=remark)
    return tuple(masses.values())


_NO_PAIR = -1  # signature of no pair of bodies


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """Two bodies that overlap by `depth` [m]; excluded ones do not collide with each other."""

    first: str
    second: str
    depth: float
    excluded: bool


def overlaps(model: mujoco.MjModel, qpos: np.ndarray) -> tuple[Overlap, ...]:
    """Return the pairs of bodies that overlap in a configuration (nq,), the deepest first."""

    def depths(model: mujoco.MjModel) -> dict[tuple[str, str], float]:
        data = mujoco.MjData(model)
        data.qpos[:] = qpos
        return overlap_depths(model, data)

    open_model = copy.copy(model)
    open_model.exclude_signature[:] = _NO_PAIR
    found = depths(open_model)
    colliding = depths(model) if model.nexclude else found
    return tuple(
        Overlap(first=first, second=second, depth=depth, excluded=(first, second) not in colliding)
        for (first, second), depth in sorted(found.items(), key=lambda item: -item[1])
    )


_STANDSTILL_S = 2.0  # simulated time without commands [s]


@dataclass(frozen=True, kw_only=True)
class RobotReport:
    """A robot of the scene."""

    name: str
    file: str
    namespace: str
    base: str  # ``fixed`` or ``floating``
    bodies: int
    mass: float  # total mass in the simulated model [kg]
    file_mass: float | None  # sum of the masses in the file [kg]; None where the file has none
    has_gains_file: bool  # whether PD gains are from a file; they are derived otherwise
    links: tuple[LinkMass, ...]  # mass of each link
    joints: tuple[JointEntry, ...]  # its scalar joints
    sensors: tuple[interfaces.SensorEntry, ...]  # its sensors, cameras and lidars
    actuators: tuple[interfaces.ActuatorEntry, ...]  # its control inputs
    commands: tuple[interfaces.CommandInput, ...]  # topics and actions that command it
    wheels: Wheels  # its wheels, and what touches the ground beside them
    drive: str  # the controller of the wheels with its parameters, or why they have none
    ignored: Mapping[str, int]  # number of elements of its URDF that are not read, by kind


@dataclass(frozen=True, kw_only=True)
class Report:
    """A scene or model."""

    reference: str
    name: str
    versions: Mapping[str, str]  # versions by program
    timestep: float  # simulated time between steps [s]
    integrator: str  # integrator of MuJoCo
    robots: tuple[RobotReport, ...]
    overlaps: tuple[Overlap, ...]  # pairs of bodies that overlap at the start
    seconds: float
    # Largest distance of a floating base from its start in this time [m]; None without one
    base_drift: float | None
    base_speed: float | None  # its largest speed at the end [m/s]
    divergences: int  # how often the simulation diverged in this time
    solver: SolverCheck  # a comparison of the solver with another one
    messages: tuple[str, ...]  # what the import logged
    engine_warnings: tuple[str, ...]  # what the engine logged in the simulated time


@contextmanager
def simulated(reference: str) -> Iterator[Simulation]:
    """Yield the simulation of a scene, as ``scene:=`` names it."""
    yield Simulation(load_scene(reference))


def inspect(
    reference: str,
    versions: Mapping[str, str],
    start: Callable[[str], AbstractContextManager[Simulation]] = simulated,
) -> tuple[Report, Plant]:
    """Simulate a model, and report; the plant is at its start.

    `start` yields the simulation of the model.
    """
    with captured_messages() as messages, start(reference) as simulation:
        logged = list(messages)
        plant, warnings = simulation.plant, simulation.engine_messages
        found = _overlaps(plant, logged)
        still = measure_standstill(simulation, _STANDSTILL_S)
        engine_warnings = tuple(dict.fromkeys(warnings))
        plant.reset()
        plant.evaluate()
        parts = plant.assembly.robots
        robots = []
        for index, (robot, part) in enumerate(zip(plant.layout.robots, parts, strict=True)):
            own = plant.assembly.config.robots[index]
            urdf = read_robot_urdf(plant.assembly, own, part)
            links = link_masses(plant.model, robot, part, urdf)
            masses = [link.file for link in links if link.file is not None]
            if urdf is None and any(link.model and link.file is None for link in links):
                masses = []  # the file has those as masses or densities of shapes
            robots.append(
                RobotReport(
                    name=robot.name,
                    file=str(plant.assembly.config.path(own.model)),
                    namespace=robot.namespace,
                    base="floating" if robot.bases else "fixed",
                    bodies=len(robot.bodies),
                    mass=float(plant.model.body_mass[list(robot.bodies)].sum()),
                    file_mass=sum(masses) if masses else None,
                    has_gains_file=own.gains is not None,
                    links=links,
                    joints=joint_entries(plant, still, index),
                    sensors=interfaces.sensor_entries(plant.model, robot),
                    actuators=interfaces.actuator_entries(plant, index),
                    commands=interfaces.command_inputs(plant, index),
                    wheels=robot.wheels,
                    drive=str(robot.drive) if robot.drive else f"none: {robot.no_drive}",
                    ignored={} if urdf is None else ignored_elements(urdf.path, part.urdf),
                )
            )
    option = plant.model.opt
    integrator = mujoco.mjtIntegrator(option.integrator).name.removeprefix("mjINT_").lower()
    report = Report(
        reference=reference,
        name=plant.assembly.config.name,
        versions=versions,
        timestep=float(option.timestep),
        integrator=integrator,
        robots=tuple(robots),
        overlaps=found,
        seconds=still.seconds,
        base_drift=still.base_drift,
        base_speed=still.base_speed,
        divergences=still.divergences,
        solver=check_solver(plant.model, state_vector(plant.model, plant.data)),
        messages=(
            *logged,
            *(f"MuJoCo compiler: {warning}" for warning in plant.assembly.compiler_log),
        ),
        engine_warnings=engine_warnings,
    )
    return report, plant


def _overlaps(plant: Plant, messages: list[str]) -> tuple[Overlap, ...]:
    try:
        return overlaps(plant.model, plant.data.qpos)
    except mujoco.FatalError as error:
        messages.append(f"overlaps at the start are unknown: {' '.join(str(error).split())}")
        return ()
