"""The model of one robot of a scene, whose parameters change between simulations."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.realism_config import Entry, RealismConfig, Section
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.sim.plant import Plant

_NEW = "drives"  # name of the entry of joints that are in none
_FITTED = "_fitted"  # ends the name of an entry of some joints of another entry
_TRANSPORT = ("delay", "interval", "jitter", "dropout")


@dataclass(frozen=True, kw_only=True)
class SceneRealism:
    """Imperfections of drives and joint states that a scene has of a robot."""

    config: RealismConfig
    joints: tuple[str, ...]
    actuated: tuple[str, ...]  # the joints with an actuator, which entries of actuators apply to

    def delay(self, joints: Sequence[str]) -> float:
        """Return the largest delay of the commands of some joints [s]."""
        delays = [entry.settings.delay for entry, _ in self._entries("actuators", joints)]
        return max(delays, default=0.0)

    def delayed(self, joints: Sequence[str], delay: float) -> dict[str, dict[str, Any]]:
        """Return entries of actuators that delay the commands of some joints alone."""
        changed: dict[str, dict[str, Any]] = {}
        left = [joint for joint in joints if joint in self.actuated]
        names = set(self.config.actuators)
        for entry, matched in self._entries("actuators", joints):
            own = [joint for joint in matched if joint in joints]
            left = [joint for joint in left if joint not in own]
            if len(own) == len(matched):
                changed[entry.name] = {"delay": delay}
            else:  # a joint can be in one entry only
                others = [joint for joint in matched if joint not in own]
                settings = {**self.config.actuators[entry.name], "match": own, "delay": delay}
                changed[entry.name] = {"match": others}
                changed[_unused(entry.name + _FITTED, names)] = settings
        if left:
            changed[_unused(_NEW, names)] = {"match": left, "delay": delay}
        return changed

    def left_out(self, joints: Sequence[str]) -> list[str]:
        """Return the settings of some joints that a fit does not simulate, such as backlash."""
        found = []
        for section in ("actuators", "joints"):
            for entry, _ in self._entries(section, joints):
                own, usual = asdict(entry.settings), asdict(type(entry.settings)())
                counted = own.keys() - {"delay"} if section == "actuators" else _TRANSPORT
                names = [name for name in own if name in counted and own[name] != usual[name]]
                found += [f"{section}.{entry.name}.{name}" for name in names]
        return found

    def _entries(
        self, section: Section, joints: Sequence[str]
    ) -> Iterator[tuple[Entry, list[str]]]:
        """Yield the entries of a section that apply to any of the joints, with all their joints."""
        every = self.actuated if section == "actuators" else self.joints
        for entry in self.config.entries():
            if entry.section == section:
                matched = entry.selection.select(every, "joint", f"realism.{section}.{entry.name}")
                if set(matched) & set(joints):
                    yield entry, matched


def _unused(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    names.add(name)
    return name


KINDS = ("armature", "friction", "damping", "kp", "kd")
"""Rows of the parameters of joints: for a revolute one, in kg m², Nm, Nms/rad, Nm/rad, Nms/rad."""
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS  # the state that a rollout begins with and returns
_IDEAL = mujoco.mjtDisableBit.mjDSBL_SENSOR | mujoco.mjtDisableBit.mjDSBL_CONTACT


def find_robot_config(scene: SceneConfig, name: str | None) -> RobotConfig:
    """Return the robot of a scene with a name; without a name, the only one."""
    names = [robot.name for robot in scene.robots]
    if name is None and len(names) > 1:
        raise UserInputError(
            f"scene '{scene.name}' has the robots {', '.join(names)}; name one with --robot"
        )
    for robot in scene.robots:
        if name in (None, robot.name):
            return robot
    raise unknown("robot", str(name), names, where=f"scene '{scene.name}'")


class IdentifiedRobot:
    """A robot with a fixed base and n scalar joints, alone, without contacts and imperfections."""

    def __init__(self, scene: SceneConfig, robot: RobotConfig) -> None:
        """Load a robot of a scene, without other robots, objects and extensions."""
        alone = replace(robot, realism=None, cameras=(), lidars=())
        config = replace(scene, robots=(alone,), objects=(), extensions=(), cameras=(), lidars=())
        self._plant = plant = Plant(assemble(config), lambda _event: None)
        layout = plant.layout.robots[0]
        self.name = robot.name
        if layout.bases:
            raise UserInputError(
                f"robot '{robot.name}' has a floating base, whose motion no joint state contains; "
                "hang the robot up, and give a scene with a fixed base"
            )
        self.model = plant.model
        self.model.opt.disableflags |= _IDEAL
        self.timestep = float(self.model.opt.timestep)
        self.joints = layout.joints.names
        self.qpos, self.dof = layout.joints.qpos, layout.joints.dof
        actuated = tuple(
            name for index, name in enumerate(self.joints) if plant.drives.actuators(index)
        )
        realism = RealismConfig() if robot.realism is None else robot.realism
        # The imperfections that the scene has of it
        self.realism = SceneRealism(config=realism, joints=self.joints, actuated=actuated)
        # Joints that a torque motor drives under the PD law (n,) bool
        self.driven = np.isin(np.arange(len(self.joints)), plant.drives.servo_joints)
        ids, model = layout.joints.ids, self.model
        self._limits = np.array([joint_effort(model, int(joint)) for joint in ids])
        # Joints whose effort is from the PD law alone (n,) bool
        self.measures_effort = self.driven & ~model.jnt_actgravcomp[ids].astype(bool)
        own = (model.dof_armature, model.dof_frictionloss, model.dof_damping)
        drives = plant.drives
        # Parameters of the scene, rows as in `KINDS` (5, n)
        self.values = np.stack([*(values[self.dof] for values in own), drives.kp, drives.kd])
        # Diagonal of the joint-space inertia at the start, without armature (n,)
        self.inertia = model.dof_M0[self.dof] - model.dof_armature[self.dof]
        self._scratch = mujoco.MjData(model)
        self.apply(self.values)

    @property
    def home(self) -> np.ndarray:
        """The positions of the joints at the start of the scene.  # (n,)"""
        return np.asarray(self._plant.start.qpos[self.qpos])

    def apply(self, values: np.ndarray) -> None:
        """Set the parameters of the joints, rows as in `KINDS`.  # (5, n)"""
        model, plant = self.model, self._plant
        model.dof_armature[self.dof] = values[0]
        model.dof_frictionloss[self.dof] = values[1]
        model.dof_damping[self.dof] = values[2]
        # The softness of dry friction follows from the inertia at the start.
        mujoco.mj_setConst(model, self._scratch)
        plant.drives.set_gains(values[3], values[4])
        self._gains = values[3:].copy()
        self._map_references()

    def controls(self, references: np.ndarray) -> np.ndarray:
        """Return the controls (…, nu) of positions, velocities and efforts of joints (…, 3 n)."""
        return np.asarray(references @ self._factors + self._offset)

    def efforts(self, references: np.ndarray, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Return efforts (…, n) of the PD law, NaN without it, for references (…, 3 n)."""
        position, velocity, effort = np.split(references, 3, axis=-1)
        kp, kd = self._gains
        effort = kp * (position - q) + kd * (velocity - dq) + effort
        limited = np.clip(effort, -self._limits, self._limits)
        return np.where(self.measures_effort, limited, np.nan)

    def states(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Return states (w, nstate) for a rollout, by positions and velocities (w, n)."""
        model, data, start = self.model, self._scratch, self._plant.start
        rows = []
        for position, velocity in zip(q, dq, strict=True):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.act[:], data.ctrl[:] = start.qpos, start.act, start.ctrl
            data.qpos[self.qpos], data.qvel[self.dof] = position, velocity
            row = np.zeros(mujoco.mj_stateSize(model, _STATE))
            mujoco.mj_getState(model, data, row, _STATE)
            rows.append(row)
        return np.array(rows)

    def index(self, joints: Sequence[str], where: str) -> np.ndarray:
        """Return the indices of joints; UserInputError if the robot lacks one."""
        for joint in joints:
            if joint not in self.joints:
                raise unknown("joint", joint, self.joints, where=where)
        return np.array([self.joints.index(joint) for joint in joints], dtype=np.intp)

    def _map_references(self) -> None:
        count = len(self.joints)
        controls = []
        for row in np.vstack([np.zeros(3 * count), np.eye(3 * count)]):
            control = self._plant.start.ctrl.copy()
            self._plant.drives.write(References(row.reshape(3, count)), control)
            controls.append(control)
        self._offset = controls[0]
        self._factors = np.array(controls[1:]) - self._offset
