"""Initial state of a scene."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.pose import PoseConfig, quaternion_wxyz
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.robot.scope import JOINT_WIDTHS
from mujoco_ros.model.scene.assembly import Assembly


@dataclass(frozen=True, kw_only=True)
class InitialState:
    """State at time zero."""

    qpos: np.ndarray  # positions (nq,)
    qvel: np.ndarray  # velocities (nv,)
    act: np.ndarray  # actuator activations (na,)
    ctrl: np.ndarray  # controls of keyframes, zero elsewhere (nu,)
    mocap_pos: np.ndarray  # positions of mocap bodies [m] (nmocap, 3)
    mocap_quat: np.ndarray  # orientations of mocap bodies, wxyz (nmocap, 4)
    # References of the joints; zero until `Plant.settle` completes the state
    references: References


def initial_state(assembly: Assembly, layout: ModelLayout, key: int | None = None) -> InitialState:
    """Combine the keyframes of all robots, each transformed by the robot's pose in the scene.

    A robot starts in its ``keyframe``, or the first of its model, else in qpos0; or in `key`.
    """
    model = assembly.model
    state = InitialState(
        qpos=model.qpos0.copy(),
        qvel=np.zeros(model.nv),
        act=np.zeros(model.na),
        ctrl=np.zeros(model.nu),
        mocap_pos=np.zeros((model.nmocap, 3)),
        mocap_quat=np.zeros((model.nmocap, 4)),
        references=References(np.zeros((3, sum(len(r.joints.names) for r in layout.robots)))),
    )
    moved = model.body_mocapid >= 0
    state.mocap_pos[model.body_mocapid[moved]] = model.body_pos[moved]
    state.mocap_quat[model.body_mocapid[moved]] = model.body_quat[moved]
    parts = assembly.robots
    owners = [assembly.part_of(model.key(k).name) for k in range(model.nkey)]
    for config, robot, part in zip(assembly.config.robots, layout.robots, parts, strict=True):
        keys = {
            model.key(k).name.removeprefix(robot.prefix) or f"key{k}": k
            for k in range(model.nkey)
            if owners[k] is part
        }
        if config.keyframe is not None and config.keyframe not in keys:
            raise unknown("keyframe", config.keyframe, keys, where=f"robot '{robot.name}'")
        if not keys:
            continue
        own = keys[config.keyframe] if config.keyframe is not None else next(iter(keys.values()))
        chosen = key if key is not None and key in keys.values() else own
        _copy_key(model, chosen, set(robot.bodies), config.pose, state)
    return state


def _copy_key(
    model: mujoco.MjModel, key: int, bodies: set[int], pose: PoseConfig, state: InitialState
) -> None:
    """Copy a keyframe of `bodies`; free bodies are transformed by `pose`."""
    for joint in range(model.njnt):
        if int(model.jnt_bodyid[joint]) not in bodies:
            continue
        nq, nv = JOINT_WIDTHS[model.jnt_type[joint]]
        q, v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        state.qpos[q : q + nq] = model.key_qpos[key, q : q + nq]
        state.qvel[v : v + nv] = model.key_qvel[key, v : v + nv]
        if nq == 7:
            _transform(
                pose, state.qpos[q : q + 3], state.qpos[q + 3 : q + 7], state.qvel[v : v + 3]
            )
    for body in bodies:
        mocap = int(model.body_mocapid[body])
        if mocap >= 0:
            state.mocap_pos[mocap] = model.key_mpos[key].reshape(-1, 3)[mocap]
            state.mocap_quat[mocap] = model.key_mquat[key].reshape(-1, 4)[mocap]
            _transform(pose, state.mocap_pos[mocap], state.mocap_quat[mocap], np.zeros(3))
    # Merged models pad the keyframe with zeros outside this robot.
    np.copyto(state.ctrl, model.key_ctrl[key], where=model.key_ctrl[key] != 0)
    np.copyto(state.act, model.key_act[key], where=model.key_act[key] != 0)


def _transform(
    pose: PoseConfig, position: np.ndarray, quat_wxyz: np.ndarray, velocity: np.ndarray
) -> None:
    """Transform a body's pose, and its linear velocity in the world, by `pose`."""
    turn, moved, turned = quaternion_wxyz(pose), np.zeros(3), np.zeros(4)
    mujoco.mju_mulPose(moved, turned, np.array(pose.xyz), turn, position, quat_wxyz)
    position[:], quat_wxyz[:] = moved, turned
    mujoco.mju_rotVecQuat(moved, velocity.copy(), turn)
    velocity[:] = moved
