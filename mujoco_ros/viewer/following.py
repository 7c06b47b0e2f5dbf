"""A camera that follows a body, or is one of the model."""

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
from mujoco.studio import messages, ux

TRACKING = int(mujoco.mjtCamera.mjCAMERA_TRACKING)
_FIXED = int(mujoco.mjtCamera.mjCAMERA_FIXED)


class Mount(NamedTuple):
    """What determines the view, by name, which is the same in another model; empty if nothing does.

    Attributes:
        body: The body that the camera follows.
        camera: The camera of the model.
    """

    body: str = ""
    camera: str = ""


@dataclass(frozen=True)
class CameraFollows(messages.Event):
    """The camera shall follow a body, or stay where it is.

    Attributes:
        body: Id of the body; 0 is none.
    """

    body: int


def followed(camera: mujoco.MjvCamera) -> int:
    """Return the id of the body that a camera follows; 0 if none."""
    return int(camera.trackbodyid) if camera.type == TRACKING else 0


def follow(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, body: int) -> int:
    """Let a camera follow a body, or stay at its present look-at point; keep its distance.

    Args:
        model: The model.
        data: Its state, after ``mj_kinematics``.
        camera: The camera.
        body: Id of the body; 0 is none.

    Returns:
        Studio's index of the camera.
    """
    if not 0 < body < model.nbody:
        previous = followed(camera)
        lookat = data.subtree_com[previous].copy() if previous else camera.lookat.copy()
        index = int(ux.set_camera(model, camera, ux.TUMBLE_CAMERA_IDX))
        camera.lookat[:] = lookat
        return index
    camera.type, camera.trackbodyid, camera.fixedcamid = TRACKING, body, -1
    return int(ux.TRACKING_CAMERA_IDX)


def mount(model: mujoco.MjModel, camera: mujoco.MjvCamera) -> Mount:
    """Return what determines the view of a camera."""
    if body := followed(camera):
        return Mount(body=model.body(body).name)
    if camera.type == _FIXED:
        return Mount(camera=model.camera(camera.fixedcamid).name)
    return Mount()


def set_mount(
    model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, wanted: Mount
) -> int | None:
    """Let a camera follow a body or be one of the model, by name.

    Arguments are those of `follow`.

    Returns:
        Studio's index of the camera; None if the model has no such body or camera.
    """
    kinds = mujoco.mjtObj
    body = mujoco.mj_name2id(model, kinds.mjOBJ_BODY, wanted.body) if wanted.body else 0
    if body > 0:
        return follow(model, data, camera, body)
    fixed = mujoco.mj_name2id(model, kinds.mjOBJ_CAMERA, wanted.camera) if wanted.camera else -1
    return int(ux.set_camera(model, camera, fixed)) if fixed >= 0 else None
