"""Imperfect sensors, buses and motors of all robots of a plant."""

from collections.abc import Mapping
from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.realism_config import Channel, Entry, RealismConfig, Section
from mujoco_ros.model.robot.layout import Joints, ModelLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.realism.measurements import Addresses
from mujoco_ros.sim.realism.robot_realism import RobotRealism, SavedRealism
from mujoco_ros.sim.sample import Sample


def with_default_realism(assembly: Assembly, default: RealismConfig | None) -> Assembly:
    """Return a scene in which robots without a configuration have the default one."""
    if default is None:
        return assembly
    robots = tuple(
        replace(robot, realism=default) if robot.realism is None else robot
        for robot in assembly.config.robots
    )
    return replace(assembly, config=replace(assembly.config, robots=robots))


def entries_by_robot(assembly: Assembly) -> dict[ScenePart, list[Entry]]:
    """Return the entries of each robot that has any."""
    found = {
        part: [] if robot.realism is None else robot.realism.entries()
        for part, robot in zip(assembly.robots, assembly.config.robots, strict=True)
    }
    return {part: entries for part, entries in found.items() if entries}


class Realism:
    """Turns true numbers into measured ones, and references into those that drives receive."""

    def __init__(
        self,
        assembly: Assembly,
        layout: ModelLayout,
        data: mujoco.MjData,
        joints: Joints,
        drives: Drives,
        sample: Sample,
        entries: Mapping[ScenePart, list[Entry]],
        seed: int,
    ) -> None:
        self._sample, self._joints, self._drives = sample, joints, drives
        self._data = data
        self.robots = {
            part: RobotRealism(
                assembly.model, data, robot, columns, drives, sample, entries[part], seed
            )
            for part, robot, columns in zip(
                assembly.robots, layout.robots, layout.columns, strict=True
            )
            if part in entries
        }
        count = len(joints.names)
        self._sent = References(np.zeros((3, count)))
        self._q, self._dq = np.zeros((2, count))
        each = self.robots.values()
        self._measuring = [robot for robot in each if robot.has_measurements]
        self._driving = [robot for robot in each if robot.has_commands]
        # Where measured numbers are in the sample
        self.addresses: Addresses = set().union(*(robot.measurements.addresses for robot in each))
        # What a state log needs beyond the state, by name
        self.measured_fields = {
            "true_sensordata": data.sensordata,
            "measured_qpos": sample.measured_qpos,
            "measured_qvel": sample.measured_qvel,
            "measured_effort": sample.measured_effort,
        }

    @property
    def moves_frames(self) -> bool:
        """Whether positions of joints or bases are measured, from which frames follow."""
        return any(array == "measured_qpos" for array, _ in self.addresses)

    def command(self, references: References) -> References:
        """Return the references that the drives have, and set the limits of the motors."""
        if not self._driving:
            return references
        joints, sent = self._joints, self._sent
        q, dq = self._q, self._dq
        self._data.qpos.take(joints.qpos, out=q, mode="clip")
        self._data.qvel.take(joints.dof, out=dq, mode="clip")
        sent.values[:] = references.values
        for robot in self._driving:
            robot.commands.send(references.values, sent.values)
            robot.commands.add_play(sent.values, q, dq)
            robot.motors.update(dq)
        return sent

    def measure(self) -> None:
        """Set the measured numbers of a new, true sample; the motors heat by its efforts."""
        self.copy_truth()
        for robot in self._measuring:
            robot.measurements.update()
        for robot in self._driving:
            robot.motors.heat()

    def copy_truth(self) -> None:
        """Make the measured numbers of joints the true ones, as after the state was set."""
        sample = self._sample
        sample.measured_qpos[:] = sample.qpos
        sample.measured_qvel[:] = sample.qvel
        sample.measured_effort[:] = sample.qfrc_actuator

    def change(self, part: ScenePart, changes: Mapping[tuple[Section, str], Channel]) -> None:
        """Set settings of entries between two steps; a robot that is gone is ignored."""
        if part in self.robots:
            for (section, name), settings in changes.items():
                self.robots[part].change(section, name, settings)
            self.robots[part].configure()

    def configure(self) -> None:
        """Apply the settings and the timestep of the model."""
        for robot in self.robots.values():
            robot.configure()

    def restart_commands(self, part: ScenePart) -> None:
        """Forget the references of a robot that are in flight, after its state was set."""
        if part in self.robots:
            self.robots[part].commands.channel.restart()

    def reset(self) -> None:
        """Return to the start."""
        for robot in self.robots.values():
            robot.reset()

    def save(self) -> dict[ScenePart, SavedRealism]:
        """Return a copy of the state, for `restore`."""
        return {part: robot.save() for part, robot in self.robots.items()}

    def restore(self, saved: Mapping[ScenePart, SavedRealism]) -> None:
        """Continue from a saved state, for robots that it has as well."""
        for part, robot in self.robots.items():
            if part in saved:
                robot.restore(saved[part])

    def transfer(self, old: "Realism") -> None:
        """Continue with the settings and the state of the previous plant."""
        for part, robot in self.robots.items():
            if part in old.robots:
                robot.entries = old.robots[part].entries
            robot.configure()  # the timestep may be another one
        self.restore(old.save())
