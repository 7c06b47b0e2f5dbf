"""Log messages of the node at its start."""

from collections.abc import Iterator

from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.sim.simulation import Simulation


def startup_summary(simulation: Simulation, factor: float) -> Iterator[str]:
    """Yield the log lines that describe a simulation.

    Args:
        simulation: The simulation.
        factor: Simulated seconds per wall second; 0 is as fast as possible.
    """
    for note in simulation.assembly.compiler_log:
        yield f"MuJoCo compiler: {note}"
    for robot in simulation.layout.robots:
        parts = {
            "joint": len(robot.joints.names),
            **{kind.title: len(robot.sensors[kind.key]) for kind in SENSOR_KINDS},
            "camera": len(robot.cameras),
            "lidar": len(robot.lidars),
        }
        listing = [f"{n} {kind}{'s' * (n > 1)}" for kind, n in parts.items() if n]
        listing.append(f"{'floating' if robot.bases else 'fixed'} base")
        yield f"{robot.name}: {', '.join(listing)}"
        if robot.unused_sensors:
            yield f"{robot.name}: no topic for sensors {', '.join(robot.unused_sensors)}"
    pace = f"at factor {factor:g}" if factor else "as fast as possible"
    yield (
        f"simulating '{simulation.assembly.config.name}' with a step of "
        f"{1e3 * simulation.model.opt.timestep:g} ms, {pace}, until Ctrl-C"
    )
