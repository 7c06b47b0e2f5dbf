"""The TF frames that are fixed to bodies, and the mocap bodies."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.naming import OPTICAL_WXYZ, optical_frame, site_frame
from mujoco_ros.model.robot.layout import ModelLayout


@dataclass(frozen=True, kw_only=True)
class BodyFrame:
    """A frame that is fixed to a body."""

    frame: str
    owner: str = ""  # name of the body in the model; empty if it has none
    body: int
    position: np.ndarray  # origin in the frame of the body [m] (3,)
    quat_wxyz: np.ndarray  # orientation in the frame of the body (4,)


@dataclass(frozen=True, kw_only=True)
class MocapBody:
    """A body whose pose is an input."""

    name: str
    namespace: str
    frame: str
    body: int
    mocap: int  # row in ``mocap_pos`` and ``mocap_quat``


def named_frames(model: mujoco.MjModel, layout: ModelLayout) -> dict[str, BodyFrame]:
    """Return the frames of all named bodies, and of the robots' sites and fixed cameras."""
    found: dict[str, BodyFrame] = {}

    def add(frame: str, body: int, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        if frame not in found:
            found[frame] = BodyFrame(
                frame=frame,
                owner=model.body(body).name,
                body=body,
                position=position.copy(),
                quat_wxyz=quat_wxyz.copy(),
            )

    origin, identity = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    for frame, body in body_frames(model, layout).items():
        add(frame, body, origin, identity)
    for robot in layout.robots:
        bodies = set(robot.bodies)
        names = {model.body(body).name.removeprefix(robot.prefix) for body in bodies}
        for site in range(model.nsite):
            name, body = model.site(site).name, int(model.site_bodyid[site])
            if name and body in bodies:
                frame = robot.frame(site_frame(name.removeprefix(robot.prefix), names))
                add(frame, body, model.site_pos[site], model.site_quat[site])
        for camera in robot.cameras:
            quat = np.zeros(4)
            mujoco.mju_mulQuat(quat, model.cam_quat[camera.camera], np.array(OPTICAL_WXYZ))
            if camera.body and model.cam_mode[camera.camera] == mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
                frame = robot.frame(optical_frame(camera.name))
                add(frame, camera.body, model.cam_pos[camera.camera], quat)
    return found


def mocap_bodies(model: mujoco.MjModel, layout: ModelLayout) -> list[MocapBody]:
    """Return every mocap body, in the order of the model."""
    owners = {body: robot for robot in layout.robots for body in robot.bodies}
    bodies = [body for body in range(model.nbody) if model.body_mocapid[body] >= 0]
    names = {body: model.body(body).name or f"body{body}" for body in bodies}
    objects = [names[body].partition("/")[0] for body in bodies if body not in owners]
    objects += [frame for frame, _ in layout.free_objects]  # frames must differ
    found = []
    for body, full_name in names.items():
        if body in owners:
            robot = owners[body]
            name, namespace = full_name.removeprefix(robot.prefix), robot.namespace
            frame = robot.frame(name)
        else:
            owner, namespace = full_name.partition("/")[0], ""
            name = frame = owner if objects.count(owner) == 1 else full_name
        mocap = int(model.body_mocapid[body])
        found.append(MocapBody(name=name, namespace=namespace, frame=frame, body=body, mocap=mocap))
    return found


def can_move(model: mujoco.MjModel, body: int) -> bool:
    """Whether forces can move a body: it is fixed neither to the world nor to a mocap body."""
    return bool(model.body_dofnum[model.body_weldid[body]])


def body_frames(model: mujoco.MjModel, layout: ModelLayout) -> dict[str, int]:
    """Return every named body by its TF frame."""
    frames = {frame: base.body for frame, base in layout.free_objects}
    frames |= {mocap.frame: mocap.body for mocap in mocap_bodies(model, layout)}
    known = set(frames.values())
    owners = {body: robot for robot in layout.robots for body in robot.bodies}
    for body in range(1, model.nbody):
        name = model.body(body).name
        if name and body not in known:
            frames[owners[body].frame(name) if body in owners else name] = body
    return frames
