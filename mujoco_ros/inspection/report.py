"""The report of a model: what is in it, how it stands, and how it is commanded."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from mujoco_ros.inspection.ignored import ignored_elements
from mujoco_ros.inspection.interfaces import (
    ActuatorEntry,
    CommandInput,
    SensorEntry,
    actuator_entries,
    command_inputs,
    sensor_entries,
)
from mujoco_ros.inspection.joints import JointEntry, joint_entries
from mujoco_ros.inspection.loading import captured_messages, load_with_arguments
from mujoco_ros.inspection.masses import LinkMass, link_masses, read_robot_urdf
from mujoco_ros.inspection.overlaps import Overlap, overlaps
from mujoco_ros.inspection.standstill import measure_standstill
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.state_vector import state_vector
from mujoco_ros.sim.stepping.solver_check import SolverCheck, check_solver

SECONDS = 2.0
"""Simulated time without commands [s]."""


@dataclass(frozen=True, kw_only=True)
class RobotReport:
    """A robot of the scene.

    Attributes:
        name: Its name.
        file: Its model.
        namespace: Namespace of its topics.
        base: ``fixed`` or ``floating``.
        bodies: Number of bodies.
        mass: Total mass in the simulated model [kg].
        file_mass: Sum of the masses in the file [kg]; None where the file has none.
        has_gains_file: Whether PD gains are from a file; they are derived otherwise.
        links: Mass of each link.
        joints: Its scalar joints.
        sensors: Its sensors, cameras and lidars.
        actuators: Its control inputs.
        commands: Topics and actions that command it.
        ignored: Number of elements of its URDF that are not read, by kind.
    """

    name: str
    file: str
    namespace: str
    base: str
    bodies: int
    mass: float
    file_mass: float | None
    has_gains_file: bool
    links: tuple[LinkMass, ...]
    joints: tuple[JointEntry, ...]
    sensors: tuple[SensorEntry, ...]
    actuators: tuple[ActuatorEntry, ...]
    commands: tuple[CommandInput, ...]
    ignored: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A scene or model.

    Attributes:
        reference: What was loaded.
        name: Name of the scene.
        versions: Versions by program.
        timestep: Simulated time between steps [s].
        integrator: Integrator of MuJoCo.
        robots: Its robots.
        overlaps: Pairs of bodies that overlap at the start.
        seconds: Simulated time without commands [s].
        base_drift: Largest distance of a floating base from its start in this time [m]; None
            without one.
        base_speed: Its largest speed at the end [m/s].
        divergences: How often the simulation diverged in this time.
        solver: A comparison of the solver with another one.
        messages: What the import logged.
        engine_warnings: What the engine logged in the simulated time.
    """

    reference: str
    name: str
    versions: Mapping[str, str]
    timestep: float
    integrator: str
    robots: tuple[RobotReport, ...]
    overlaps: tuple[Overlap, ...]
    seconds: float
    base_drift: float | None
    base_speed: float | None
    divergences: int
    solver: SolverCheck
    messages: tuple[str, ...]
    engine_warnings: tuple[str, ...]


def inspect(
    reference: str, versions: Mapping[str, str], xacro_args: Mapping[str, str] | None = None
) -> tuple[Report, Plant]:
    """Load a model as ``scene:=`` does, simulate it without commands, and report on it.

    Args:
        reference: A model or scene, as for `load_scene`.
        versions: Versions to report, by program.
        xacro_args: Arguments of a xacro file by name.

    Returns:
        The report, and the plant in the initial state of its scene.

    Raises:
        UserInputError: The model does not load; the simulator would not start either.
    """
    with captured_messages() as messages:
        config = load_with_arguments(reference, xacro_args or {})
        simulation = Simulation(config)
        logged = list(messages)
        plant, warnings = simulation.plant, simulation.engine_messages
        found = _overlaps(plant, logged)
        still = measure_standstill(simulation, SECONDS)
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
                    sensors=sensor_entries(plant.model, robot),
                    actuators=actuator_entries(plant, index),
                    commands=command_inputs(plant, index),
                    ignored={} if urdf is None else ignored_elements(urdf.path, part.urdf),
                )
            )
    option = plant.model.opt
    integrator = mujoco.mjtIntegrator(option.integrator).name.removeprefix("mjINT_").lower()
    report = Report(
        reference=reference,
        name=config.name,
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
        messages=(*logged, *(f"MuJoCo compiler: {it}" for it in plant.assembly.compiler_log)),
        engine_warnings=engine_warnings,
    )
    return report, plant


def _overlaps(plant: Plant, messages: list[str]) -> tuple[Overlap, ...]:
    try:
        return overlaps(plant.model, plant.data.qpos)
    except mujoco.FatalError as error:
        messages.append(f"overlaps at the start are unknown: {' '.join(str(error).split())}")
        return ()
