"""A camera that follows a body."""

from dataclasses import dataclass

import mujoco
from mujoco.studio import messages, ux

TRACKING = int(mujoco.mjtCamera.mjCAMERA_TRACKING)


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
