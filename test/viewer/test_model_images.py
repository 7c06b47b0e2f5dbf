"""Images of models that can be spawned."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.cli import model_images as renderer
from mujoco_ros.process import child_process
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.gl import open_context
from mujoco_ros.viewer import model_images
from mujoco_ros.viewer.model_images import NO_RENDERING, SIZE, ModelImages

BOX = Path(__file__).parent / "data" / "box.xml"
LIMIT_S = 240.0


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


def made(*paths: Path) -> ModelImages:
    """Return the images of files when all are tried."""
    images = ModelImages()
    images.request([path.as_uri() for path in paths])
    thread = images._thread
    assert thread is not None
    deadline = time.monotonic() + LIMIT_S
    while thread.is_alive():
        assert time.monotonic() < deadline
        thread.join(0.1)
    return images


def replace_renderer(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Run a program with the descriptor and the models instead."""

    def command(_module: str, progress: str, *paths: str) -> list[str]:
        return [sys.executable, "-c", program, progress.removeprefix("--progress="), *paths]

    monkeypatch.setattr(child_process, "python_command", command)


@pytest.mark.usefixtures("can_render")
def test_an_image_shows_the_model_and_is_rendered_once(tmp_path, cache, monkeypatch):
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody><geom type='nothing'/></worldbody></mujoco>")
    missing = tmp_path / "missing.xml"
    images = made(missing, broken, BOX)
    assert set(images.found) == {BOX.as_uri()}
    image = images.found[BOX.as_uri()]
    assert image.shape == (SIZE[1], SIZE[0], 3)
    assert np.ptp(image[:, :, 0]) > 50, "it is on a light background"
    np.testing.assert_array_equal(image[0, 0], image[-1, -1])
    (file,) = cache.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    replace_renderer(monkeypatch, "raise SystemExit('not again')")
    np.testing.assert_array_equal(made(BOX).found[BOX.as_uri()], image)


def test_a_model_that_ends_the_process_has_no_image_and_the_others_are_tried(
    tmp_path, monkeypatch, caplog
):
    paths = [tmp_path / f"{name}.xml" for name in ("a", "crash", "b")]
    for path in paths:
        path.write_text("<mujoco/>")
    log = tmp_path / "log"
    replace_renderer(
        monkeypatch,
        f"""
import os, sys
for path in sys.argv[2:]:
    with open({str(log)!r}, "a") as log:
        log.write(os.path.basename(path) + "\\n")
    if "crash" in path:
        os.abort()
    os.write(int(sys.argv[1]), b"done\\n")
""",
    )
    made(*paths)
    assert log.read_text().split() == ["a.xml", "crash.xml", "b.xml"]
    assert "crash.xml' has no image: SIGABRT" in caplog.text


def test_a_machine_that_cannot_render_has_no_images(monkeypatch, capfd, tmp_path):
    log = tmp_path / "log"
    replace_renderer(
        monkeypatch, f"open({str(log)!r}, 'a').write('started '); raise SystemExit({NO_RENDERING})"
    )
    assert not made(BOX).found
    assert log.read_text() == "started "

    def fail(*_: object) -> None:
        raise RenderingError("no OpenGL")

    monkeypatch.setattr(renderer, "model_image", fail)
    monkeypatch.setattr(renderer.resource, "setrlimit", lambda *_: None)
    descriptor = os.open(tmp_path / "progress", os.O_WRONLY | os.O_CREAT)
    assert renderer.main([f"--progress={descriptor}", str(BOX)]) == NO_RENDERING
    assert "cannot be rendered: no OpenGL" in capfd.readouterr().err


def test_the_image_of_a_changed_file_has_another_name(tmp_path):
    path = tmp_path / "box.xml"
    path.write_bytes(BOX.read_bytes())
    before = model_images.image_name(path)
    path.touch()
    assert model_images.image_name(path) != before
