"""An arm with other parameters than its scene has, and noisy measurements."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import Clamped
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.identification.excitation import Excitation, excite
from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.model.scene.joint_options import JointOptions
from mujoco_ros.model.scene.overlay import RobotOverlay, overlaid
from mujoco_ros.sim.simulation import Simulation

JOINTS = (
    *("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"),
    *("wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
)
# Armature [kg m²], friction [Nm] and damping [Nms/rad] of each joint, before the random factors.
BASE = {
    "armature": (0.8, 0.8, 0.5, 0.12, 0.12, 0.12),
    "friction": (6.0, 8.0, 5.0, 1.0, 1.0, 0.8),
    "damping": (12.0, 15.0, 9.0, 1.5, 1.5, 1.2),
}
NOISE = {"position_noise": 5e-5, "velocity_noise": 2e-3, "effort_noise": 0.2}
STREAM = StreamSettings(interpolation="hold")
NO_CLAMP = Clamped()


class HiddenTwin:
    """The arm with random parameters.

    Attributes:
        scene: The scene that a user has of it, with other parameters.
        truth: The parameters, by kind and joint.
        delay: Delay of the commands [s].
    """

    def __init__(self, seed: int, joints: Sequence[str] = JOINTS, noise: float = 1.0) -> None:
        """Change the parameters of `joints`, which `record` moves; times the usual noise."""
        random = np.random.default_rng(seed)
        self.scene = arm_alone()
        self._seed, self._noise = seed, {key: noise * value for key, value in NOISE.items()}
        self._moving = np.array([JOINTS.index(joint) for joint in joints])
        self.truth = {
            kind: dict(zip(JOINTS, np.array(base) * random.uniform(0.5, 1.5, 6), strict=True))
            for kind, base in BASE.items()
        }
        self.delay = 1e-3 * int(random.integers(1, 13))
        (gains,) = Simulation(self.scene).plant.gains.by_robot().values()
        for kind, own in (("kp", gains.kp), ("kd", gains.kd)):
            values = own[:6] * random.uniform(0.6, 1.4, 6)
            self.truth[kind] = dict(zip(JOINTS, values, strict=True))
        self.truth = {kind: {name: by[name] for name in joints} for kind, by in self.truth.items()}

    def overlay(self) -> RobotOverlay:
        """Return its parameters as the overlay of a scene."""
        return RobotOverlay(
            name="arm",
            joints={
                JOINTS[index]: JointOptions(
                    **{kind: float(by[JOINTS[index]]) for kind, by in self.truth.items()}
                )
                for index in self._moving
            },
            realism=RealismConfig(
                joints={"encoders": dict(self._noise)},
                actuators={"drives": {"match": list(JOINTS), "delay": self.delay}},
            ),
        )

    def record(
        self, duration: float = 60.0, seed: int = 1, *, velocities: bool = True
    ) -> JointRecord:
        """Return states and references, with velocities or not, at 1 kHz of a motion [s]."""
        robots = overlaid(self.scene.robots, [self.overlay()])
        simulation = Simulation(replace(self.scene, robots=robots), seed=1000 * self._seed + seed)
        count, moving = round(duration * 1000), self._moving
        offset, speed = excite(
            Excitation(duration=duration, seed=seed), len(moving), 1e-3 * np.arange(count)
        )
        layout = simulation.layout.robots[0].joints
        qpos, dof = layout.qpos[:6], layout.dof[:6]
        home = simulation.data.qpos[qpos[moving]].copy()
        states, references = np.zeros((count, 3, 6)), np.zeros((count, 3, 6))
        sample, unchanged = simulation.sample, np.full(len(moving), np.nan)
        for step in range(count):
            feed = speed[step] if velocities else unchanged
            values = np.stack([home + offset[step], feed, unchanged])
            simulation.controls[0].command(
                CommandSource.JOINT_COMMANDS,
                JointCommand(joints=moving, values=values, clamped=NO_CLAMP),
                simulation.data.time,
                STREAM,
            )
            assert simulation.step()
            measured = (sample.measured_qpos, sample.measured_qvel, sample.measured_effort)
            for row, addresses in enumerate((qpos, dof, dof)):
                states[step, row] = measured[row][addresses]
            references[step] = simulation.references.values[:, :6]
        times = 1e-3 * np.arange(count)
        return JointRecord(
            joints=JOINTS,
            times=times,
            position=states[:, 0],
            velocity=states[:, 1],
            effort=states[:, 2],
            command_times=times,
            references=references,
        )


def arm_alone() -> SceneConfig:
    """Return the arm without table and box."""
    return replace(load_scene("arm"), objects=(), cameras=())
