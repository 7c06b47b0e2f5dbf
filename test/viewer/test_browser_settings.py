"""What the page keeps when its viewer, and when the whole simulator, starts again."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from page_driver import PageDriver
from simulated_page import opened_page, simulator_with_page, viewer_of

SCENE = Path(__file__).parent / "data" / "scene_with_camera.yaml"
SIZE = (1000, 640)
EMPTY = (500.0, 60.0)
"""A place in the scene without a body."""
CAMERA, IMAGE, LOG = "Cameras/corner", "Cameras/##320 ('', 'corner')", "Log/##word"
SHOWN = {"mjVIS_CONTACTPOINT": True, "geomgroup 0": False, "label": "mjLABEL_BODY"}
WITH_JOINTS = SHOWN | {"mjVIS_JOINT": True}
SERVED = "the viewer is at"
Kept = dict[str, Any]
pytestmark = pytest.mark.timeout(400)


class KeptSettings:
    """The file of the settings of the page."""

    def __init__(self, state_home: Path) -> None:
        self._file = state_home / "mujoco_ros" / "viewer" / f"{SCENE.stem}.json"

    def read(self) -> Kept:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def wait(self, shown: PageDriver, display: Kept) -> Kept:
        """Wait until these flags of the display are kept; return all settings."""
        shown.wait(lambda: self.read().get("Display") == display, f"{display} in the file")
        return self.read()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptSettings:
    """Settings of the viewers that a test starts, without those of other tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return KeptSettings(tmp_path / "state")


def change_the_view(shown: PageDriver, kept: KeptSettings) -> None:
    """Select no camera image, bring the log to the front, turn the camera, and press keys."""

    def turns_the_camera() -> bool:
        """Drag the scene, which has no effect before the first fit of the camera."""
        shown.drag(EMPTY, (80.0, 30.0), "left")
        shown.page.mouse.up()
        shown.frames()
        return kept.read().get("View", {}).get("camera") is not None

    shown.wait(lambda: shown.shows(IMAGE), "the image of the camera")
    shown.click(CAMERA)
    shown.wait(lambda: IMAGE not in shown.found, "no image")
    assert LOG not in shown.found, "the log is in front at the start"
    shown.wait(lambda: shown.shows(LOG), "the log")
    shown.wait(turns_the_camera, "another pose of the camera")
    for key in ("c", "F7", "0"):
        shown.key(key)


def shows_the_same(shown: PageDriver, kept: KeptSettings, before: Kept, display: Kept) -> None:
    """Check a new page; a key changes its flags to `display`, so that the viewer writes them."""
    shown.wait(lambda: {CAMERA, LOG} <= {*shown.found}, "the tabs that were in front")
    shown.frames(6)
    assert IMAGE not in shown.found
    shown.key("j")
    after = kept.wait(shown, display)
    assert after["Cameras"] == before["Cameras"]
    assert after["View"]["camera"] == pytest.approx(before["View"]["camera"], rel=1e-4, abs=1e-4)


def test_the_next_viewer_and_that_of_the_next_simulator_show_the_same(
    browser, kept, tmp_path_factory
):
    def simulator(name: str) -> Any:
        return simulator_with_page(tmp_path_factory.mktemp(name), scene=SCENE, cameras="true")

    with simulator("first") as running:
        with opened_page(browser, running, SIZE) as shown:
            change_the_view(shown, kept)
            before = kept.wait(shown, SHOWN)
            assert before["Cameras"]["selected"] == []
            shown.page.goto("about:blank")
            os.kill(viewer_of(running[0]), signal.SIGKILL)
            shown.wait(lambda: running[0].log.count(SERVED) == 2, "the next viewer")
            shown.forget()
        with opened_page(browser, running, SIZE) as shown:
            shows_the_same(shown, kept, before, WITH_JOINTS)
    with simulator("second") as running, opened_page(browser, running, SIZE) as shown:
        shows_the_same(shown, kept, before, SHOWN)
