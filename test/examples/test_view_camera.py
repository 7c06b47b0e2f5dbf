"""The example that views a camera."""

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from camera_client import write_camera_scene
from example_runs import CommandedSimulator
from simulators import SimulatorLauncher

from mujoco_ros.rendering.gl import RenderingError, open_context

SCRIPT = "09_view_camera.py"
SLOW = 0.15
"""Real-time factor at which a busy machine renders each image in time."""

try:
    open_context().close()
except RenderingError as error:
    pytest.skip(f"no EGL or OSMesa here: {error}", allow_module_level=True)


@pytest.fixture(scope="module")
def cameras(starter: SimulatorLauncher, folder: Path) -> CommandedSimulator:
    """A scene with cameras."""
    simulator = starter.simulator(
        scene=write_camera_scene(folder), cameras="true", real_time_factor=SLOW
    )
    listener = starter.listener(simulator)
    opened = listener.node.count_publishers
    assert listener.spin_until(lambda: opened("/camera/oblique/image_raw") == 1)
    return CommandedSimulator(folder, simulator, listener)


def test_it_prints_the_rate_of_images_and_the_distance_at_their_centre(
    cameras: CommandedSimulator, tmp_path: Path
) -> None:
    first = cameras.start(SCRIPT, "--camera", "oblique", "--seconds", "4", "--save", str(tmp_path))
    wrong = cameras.start(SCRIPT, "--camera", "oblong")
    done, refused = first.outcome(), wrong.outcome()
    assert done.code == 0, done.errors
    assert done.output.startswith("/camera/oblique: 160x120\n")
    by_stamps = re.search(r"^(\S+) images per second of simulated time", done.output, re.M)
    assert by_stamps
    assert float(by_stamps.group(1)) == pytest.approx(10.0, rel=0.3)
    distance = re.search(r"^distance at the image centre: (\S+) m$", done.output, re.M)
    assert distance
    assert 0.6 < float(distance.group(1)) < 1.3
    assert cv2.imread(str(tmp_path / "colour.png")).shape == (120, 160, 3)
    depth = cv2.imread(str(tmp_path / "depth.png"), cv2.IMREAD_UNCHANGED)
    coloured = cv2.imread(str(tmp_path / "depth_coloured.png"))
    assert np.unique(coloured.reshape(-1, 3), axis=0).shape[0] > 20
    segments = cv2.imread(str(tmp_path / "segmentation.png"), cv2.IMREAD_UNCHANGED)
    painted = cv2.imread(str(tmp_path / "segmentation_coloured.png"))
    assert segments.dtype == np.uint16
    pairs = {(int(n), *c) for n, c in zip(segments.flat, painted.reshape(-1, 3), strict=True)}
    assert len(pairs) == len(np.unique(segments)) > 1, "one colour for each object"
    assert depth[60, 80] == pytest.approx(1000 * float(distance.group(1)), abs=0.51)
    assert refused.code == 1
    assert refused.errors == ("no camera 'oblong' here; --camera is one of: front, oblique, spare")
