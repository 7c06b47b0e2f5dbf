"""Images of models that can be spawned."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.cli import model_images as renderer
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.process.limits import WorkerLimits
from mujoco_ros.process.worker_process import WorkerProcess
from mujoco_ros.rendering.gl import RenderingError, open_context
from mujoco_ros.viewer import model_images
from mujoco_ros.viewer.file_request import FileRequest
from mujoco_ros.viewer.model_images import SIZE, ModelImages, NoImagesError

BOX = (Path(__file__).parent / "data" / "box.xml").read_text()
LIMIT_S = 240.0
TRIALS = """
import time
import mujoco_ros.viewer.model_images as model_images
from mujoco_ros.process.worker_process import serve

def image(request):
    kind = request.uri.rpartition("/")[2]
    if kind == "slow":
        begin = time.process_time()
        while time.process_time() < begin + 0.25:
            pass
    elif kind == "endless":
        while True:
            pass
    elif kind == "large":
        kept = bytearray(b"x") * (1 << 30)
        time.sleep(1000.0)
    elif kind == "hanging":
        time.sleep(1000.0)
    elif kind == "no rendering":
        raise model_images.NoImagesError("no OpenGL")
    return request.uri

def main(arguments):
    return serve(arguments, lambda _: image)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mujoco_ros" / "model_images"


@pytest.fixture
def can_render() -> None:
    try:
        open_context().close()
    except RenderingError as error:
        pytest.skip(str(error))


@pytest.fixture
def images(tmp_path) -> Iterator[ModelImages]:
    images = ModelImages(FileAccess(lambda: [tmp_path / "models"]))
    yield images
    images.close()


@pytest.fixture
def trials(tmp_path, monkeypatch, images) -> ModelImages:
    """Images that are made by the program above, with limits."""
    (tmp_path / "image_trials.py").write_text(TRIALS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # The time in which the host runs something else counts as processor time of its guest.
    limits = WorkerLimits(processor_s=1.5, wall_s=LIMIT_S, memory_bytes=300 << 20)
    worker = WorkerProcess("image_trials", lambda: None, limits=limits)
    monkeypatch.setattr(images._reader, "_worker", worker)
    return images


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.usefixtures("can_render")
def test_an_image_shows_the_model_and_is_rendered_once(
    tmp_path, cache, monkeypatch, images, caplog
):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "part.xml").write_text(BOX)
    (folder / "box.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    (folder / "broken.xml").write_text("<mujoco><worldbody><geom type='no'/></worldbody></mujoco>")
    (tmp_path / "elsewhere.xml").write_text(BOX)
    uris = [(folder / name).as_uri() for name in ("missing.xml", "broken.xml", "../elsewhere.xml")]
    box = (folder / "box.xml").as_uri()
    images.request(uris)
    images.request([*uris, box])
    until(lambda: images.found)
    assert set(images.found) == {box}
    for problem in (
        "missing.xml' does not exist",
        "broken.xml' has no image: ",
        "elsewhere.xml' is not in a folder of which clients may name files",
    ):
        assert problem in caplog.text
    image = images.found[box]
    assert image.shape == (SIZE[1], SIZE[0], 3)
    assert np.ptp(image[:, :, 0]) > 50, "it is on a light background"
    np.testing.assert_array_equal(image[0, 0], image[-1, -1])
    (file,) = cache.iterdir()
    assert file.stat().st_mode & 0o077 == 0

    def fail(*_: object) -> None:
        raise RenderingError("no OpenGL")

    monkeypatch.setattr(renderer, "model_image", fail)
    np.testing.assert_array_equal(renderer.image_of(FileRequest(box, None)), image)
    (folder / "part.xml").touch()
    with pytest.raises(NoImagesError, match="no OpenGL"):
        renderer.image_of(FileRequest(box, None))


def test_each_model_has_limits_of_its_own(trials, caplog):
    healthy = [f"file:///{number}/slow" for number in range(10)]
    trials.request([*healthy[:9], "file:///endless", "file:///large", healthy[9]])
    until(lambda: len(trials.found) == len(healthy))
    assert "endless' has no image: it exceeds 1.5 s of processor time" in caplog.text
    assert "large' has no image: it exceeds 0.3 GiB of memory" in caplog.text
    assert caplog.text.count("has no image") == 2


def test_a_machine_that_cannot_render_is_reported_once_per_list(trials, caplog):
    trials.request(["file:///no rendering", "file:///a"])
    until(lambda: "images of models cannot be rendered: no OpenGL" in caplog.text)
    trials.request(["file:///b"])
    until(lambda: trials.found)
    assert set(trials.found) == {"file:///b"}


def test_another_list_precedes_the_rest_of_an_earlier_one(trials):
    assert model_images.LIMITS.wall_s < float("inf")
    trials.request([f"file:///{number}/slow" for number in range(1000)])
    until(lambda: trials.found)
    trials.request(["file:///later"])
    until(lambda: "file:///later" in trials.found)
    assert len(trials.found) < 1000


def test_the_end_does_not_wait_for_a_model(trials, caplog):
    trials.request(["file:///hanging", "file:///a"])
    until(lambda: trials._reader._worker.pid)
    trials.close()
    until(lambda: all(future.done() for future in trials._waiting))
    assert not caplog.text
