"""The shipped quadruped as a model that is fast to simulate in large numbers."""

from dataclasses import dataclass

import mujoco
import numpy as np

from training.policy_table import ROOT, PolicyTable

ROBOT = ROOT / "urdf_mjcf" / "quadruped" / "quadruped.xml"
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
FOOT_RADIUS = 0.0265
"""[m]; of the MJCF."""
_ITERATIONS, _LINESEARCH = 2, 5
"""Iterations of the solver: with one, feet slip and the standing robot falls; with two, height and
tilt after a second differ by up to about 1 mm and 5 mrad from those with 100."""


@dataclass(frozen=True, kw_only=True)
class TrainingRobot:
    """The robot of the training.

    Attributes:
        model: The compiled model: feet on a plane, position servos with the gains of the policy.
        stand: Joint positions of the initial keyframe [rad].  # (12,)
        stand_height: Height of the base in it [m].
        default_pose: Positions to which joint positions and actions are relative [rad].  # (12,)
        feet: Indices of the geoms of the feet.  # (4,)
        limits: Largest efforts [Nm].  # (12,)
    """

    model: mujoco.MjModel
    stand: np.ndarray
    stand_height: float
    default_pose: np.ndarray
    feet: np.ndarray
    limits: np.ndarray


def make_robot(table: PolicyTable, timestep: float) -> TrainingRobot:
    """Derive the model from the shipped MJCF: no meshes, contacts of the feet with a plane only.

    Args:
        table: The table of the controller.
        timestep: Of the physics [s].
    """
    spec = mujoco.MjSpec.from_file(str(ROBOT))
    for geom in spec.geoms:
        if geom.name not in FEET:  # the links have masses and inertias
            spec.delete(geom)
    for part in (*spec.meshes, *spec.materials, *spec.sensors):
        spec.delete(part)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 1
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], conaffinity=0
    )
    for actuator in spec.actuators:
        _make_servo(actuator, table)
    spec.option.timestep = timestep
    spec.option.iterations, spec.option.ls_iterations = _ITERATIONS, _LINESEARCH
    model = spec.compile()
    home = model.key("stand").qpos
    pose = home[7:].copy()
    for joint, position in table.default_pose.items():
        pose[int(model.joint(joint).qposadr[0]) - 7] = position
    return TrainingRobot(
        model=model,
        stand=home[7:].copy(),
        stand_height=float(home[2]),
        default_pose=pose,
        feet=np.array([model.geom(foot).id for foot in FEET]),
        limits=model.actuator_forcerange[:, 1].copy(),
    )


def _make_servo(actuator: "mujoco.MjsActuator", table: PolicyTable) -> None:
    """Make a motor a servo with the torque ``kp (ctrl - q) - kd dq``, with the same limits."""
    limit = float(actuator.gear[0])
    actuator.gear[0] = 1.0
    actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gainprm[0] = table.kp
    actuator.biasprm[:3] = 0.0, -table.kp, -table.kd
    actuator.ctrllimited, actuator.forcelimited = False, True
    actuator.forcerange = [-limit, limit]
