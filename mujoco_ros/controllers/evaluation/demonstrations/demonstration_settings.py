"""What is recorded of the episodes of a dataset."""

from collections.abc import Iterable
from dataclasses import dataclass

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.cameras import Camera

RATE_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class DemonstrationSettings:
    """What is recorded.

    Attributes:
        fps: Frames a second; the controller's rate is a multiple of it.
        cameras: Names of cameras; None for all of the scene.
        failures: Whether failed episodes are recorded as well.
        task: What is done, as text.
    """

    fps: int
    cameras: tuple[str, ...] | None = None
    failures: bool = False
    task: str


def ticks_per_frame(rate: float, fps: int) -> int:
    """Return the number of ticks for each frame.

    Raises:
        UserInputError: The rate of the controller [Hz] is not a multiple of `fps`.
    """
    ticks = round(rate / fps)
    if ticks < 1 or abs(ticks * fps - rate) > RATE_TOLERANCE * rate:
        possible = [n for n in range(1, round(rate) + 1) if round(rate) % n == 0]
        raise UserInputError(
            f"--fps {fps}: the controller's rate of {rate:g} Hz is not a multiple of it; possible: "
            f"{', '.join(map(str, possible))}"
        )
    return ticks


def chosen_cameras(layout: ModelLayout, names: Iterable[str] | None) -> dict[str, Camera]:
    """Return cameras by their names in features; those of a robot in a namespace begin with it.

    Raises:
        UserInputError: The scene has no camera of a name.
    """
    cameras = {
        ".".join(filter(None, (it.namespace.strip("/").replace("/", "."), it.name))): it
        for it in layout.every_camera
    }
    for name in names or ():
        if name not in cameras:
            raise unknown("camera", name, cameras)
    return cameras if names is None else {name: cameras[name] for name in names}


def check_settings(
    settings: DemonstrationSettings, controller: FsmController, layout: ModelLayout
) -> None:
    """Check settings before the first episode.

    Raises:
        UserInputError: The frames do not fit the controller's rate, or a camera does not exist.
    """
    ticks_per_frame(1.0 / controller.period, settings.fps)
    chosen_cameras(layout, settings.cameras)
