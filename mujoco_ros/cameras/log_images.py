"""Images and films of the states of a log, from a camera of the model or a free one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.sensors.cameras import compute_poses
from mujoco_ros.rendering.gl import RICH
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.state_log.reader import LogSegment

_POSE_NUMBERS, _DISTANCE, _LARGEST = 6, 3, 1e6
"""Numbers of the pose of a free camera, the distance among them, and their bound [m or deg]."""
_ROUNDING_S = 1e-9
_MOST_FRAMES = 1_000_000  # most frames of a film: more than nine hours at 30 frames per second


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Where images are taken from; a free camera in the model's default pose without anything."""

    camera: str = ""  # name of a camera of the model
    # Of a free camera: look-at point [m], distance [m], azimuth and elevation [deg]
    pose: tuple[float, ...] = ()
    # Name of a body that the free camera follows; the look-at point has no effect then
    follow: str = ""

    def __post_init__(self) -> None:
        """Check the pose."""
        pose = self.pose
        if pose and not (
            len(pose) == _POSE_NUMBERS
            and all(abs(number) < _LARGEST for number in pose)  # false for NaN
            and pose[_DISTANCE] > 0.0
        ):
            raise UserInputError(
                f"the pose of a camera has {_POSE_NUMBERS} numbers: x, y and z of the look-at "
                f"point, a positive distance [m], azimuth and elevation [deg]; got {list(pose)}"
            )

    def camera_in(self, model: mujoco.MjModel) -> mujoco.MjvCamera:
        """Return the camera of the engine; UserInputError without such a camera or body."""
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, camera)
        if self.camera:
            names = [model.camera(index).name for index in range(model.ncam)]
            camera.type = int(mujoco.mjtCamera.mjCAMERA_FIXED)
            camera.fixedcamid = _index("camera", self.camera, names)
            return camera
        if self.pose:
            camera.lookat[:] = self.pose[:3]
            camera.distance, camera.azimuth, camera.elevation = self.pose[3:]
        if self.follow:
            names = [model.body(index).name for index in range(model.nbody)]
            camera.type = int(mujoco.mjtCamera.mjCAMERA_TRACKING)
            camera.trackbodyid = _index("body", self.follow, names)
        return camera


def _index(kind: str, name: str, names: Sequence[str]) -> int:
    """Return the index of a name; an error lists all names."""
    if name not in names:
        raise unknown(kind, name, names, where="the model")
    return names.index(name)


def film_rows(times: np.ndarray, start: float, end: float, rate: float) -> np.ndarray:
    """Return the rows of the frames of a film in real time, from `start` to `end` [s].

    Where the time (rows,) jumps back, after a reset, the film continues.
    """
    rows = rows_between(times, start, end)
    played = np.cumsum([0.0, *np.maximum(np.diff(times[rows]), 0.0)])
    last = (played[-1] + _ROUNDING_S) * rate
    if not last < _MOST_FRAMES:  # true for NaN
        raise UserInputError(
            f"a film of {played[-1]:g} s is too long: at {rate:g} frames per second, "
            f"it can take {_MOST_FRAMES / rate:.0f} s; choose a shorter span"
        )
    count = int(last) + 1
    at = np.searchsorted(played, np.arange(count) / rate + _ROUNDING_S, side="right") - 1
    return np.asarray(rows[at])


def rows_between(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """Return the indices of the rows in a span [s]; UserInputError if there is none."""
    selected = (times >= start - _ROUNDING_S) & (times <= end + _ROUNDING_S)
    if not selected.any():
        span = f"from {times[0]:g} to {times[-1]:g} s" if len(times) else "none"
        raise UserInputError(f"the log has no row from {start:g} to {end:g} s; its rows are {span}")
    return np.flatnonzero(selected)


def log_images(
    segment: LogSegment, rows: Sequence[int] | np.ndarray, view: View, size: tuple[int, int]
) -> Iterator[np.ndarray]:
    """Yield an image of each row, with shadows and reflections on every machine.  # (h, w, 3)"""
    model = segment.model
    data, camera = mujoco.MjData(model), view.camera_in(model)
    renderer = Renderer(model, quality=RICH)
    try:
        for row in rows:
            segment.load_state(int(row), data)
            compute_poses(model, data)
            yield renderer.view(data, camera, *size)
    finally:
        renderer.close()


_CODEC = "libx264"
_SETTINGS = {"crf": "20", "preset": "veryfast"}
"""Of the codec: hardly visible losses, and less time than rendering takes."""
_PIXELS = "yuv420p"  # what browsers play


def write_film(
    file: BinaryIO, images: Iterable[np.ndarray], size: tuple[int, int], rate: int
) -> None:
    """Write images (height, width, 3) as H.264 in an MP4 file; sizes are even numbers."""
    import av  # an optional part

    # Its beginning is written last: players on the web can then start before they have all of it.
    options = {"movflags": "+faststart"}
    path = f"/proc/self/fd/{file.fileno()}"
    with av.open(path, "w", format="mp4", options=options) as container:
        stream = container.add_stream(_CODEC, rate=rate, options=_SETTINGS)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = size
        stream.pix_fmt = _PIXELS
        for image in images:
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
