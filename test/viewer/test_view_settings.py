"""Settings of the page that are kept for the next viewer of the scene."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from mujoco.studio import messages, plugin, ux
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.viewer import main_loop
from mujoco_ros.viewer.app import Application
from mujoco_ros.viewer.clients import ImageKind
from mujoco_ros.viewer.docks import DockArea, DockLayout
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.panels.log import LogPanel
from mujoco_ros.viewer.panels.overlays import OverlaysPanel
from mujoco_ros.viewer.panels.plots.plots import PlotsPanel
from mujoco_ros.viewer.view_settings import DisplayFlags, ViewSettings


@pytest.fixture(scope="module")
def state() -> StillState:
    return StillState("arm")


class Part:
    """Keeps one number."""

    def __init__(self) -> None:
        self.number = 0
        self.restored: list[Any] = []

    def settings(self) -> dict[str, Any]:
        return {"number": self.number}

    def restore(self, settings: Any) -> None:
        self.restored.append(settings)
        self.number = settings.get("number", 0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_changed_settings_are_written_and_restored(tmp_path: Path) -> None:
    clock, part = Clock(), Part()
    first = ViewSettings(tmp_path / "viewer", lambda: "left arm, right arm", {"part": part}, clock)
    assert part.restored == []
    clock.now = 10.0
    first.on_update(messages.UpdateEvent())
    assert not (tmp_path / "viewer").exists(), "nothing has changed"
    part.number = 7
    clock.now = 10.5
    first.on_update(messages.UpdateEvent())
    assert not (tmp_path / "viewer").exists(), "the last check was half a second ago"
    clock.now = 11.1
    first.on_update(messages.UpdateEvent())
    (file,) = (tmp_path / "viewer").iterdir()
    assert file.name == "left_arm_right_arm.json"
    assert file.stat().st_mode & 0o077 == 0
    second, other = Part(), Part()
    ViewSettings(tmp_path / "viewer", lambda: "left arm, right arm", {"part": second}, clock)
    ViewSettings(tmp_path / "viewer", lambda: "left arm", {"part": other}, clock)
    assert (second.number, other.number) == (7, 0)


def test_settings_belong_to_the_present_scene(tmp_path: Path) -> None:
    scene, part = ["arm"], Part()
    kept = ViewSettings(tmp_path, lambda: scene[0], {"part": part})
    scene[0], part.number = "quadruped", 3
    kept.on_exit(messages.ExitEvent())
    assert [it.name for it in tmp_path.iterdir()] == ["quadruped.json"]


def test_the_exit_writes_what_has_changed(tmp_path: Path) -> None:
    part = Part()
    kept = ViewSettings(tmp_path, lambda: "arm", {"part": part})
    part.number = 3
    kept.on_exit(messages.ExitEvent())
    assert json.loads((tmp_path / "arm.json").read_text()) == {"part": {"number": 3}}


@pytest.mark.parametrize(
    "content",
    [b"{", b"[1]", b"\xff\xfe", b'{"part": 5}', b"[" * 60_000, b" " * 70_000 + b"{}", b"null"],
    ids=range(7),
)
def test_a_file_that_is_no_settings_is_ignored(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "arm.json").write_bytes(content)
    part = Part()
    kept = ViewSettings(tmp_path, lambda: "arm", {"part": part})
    assert part.number == 0
    part.number = 1
    kept.on_exit(messages.ExitEvent())
    assert json.loads((tmp_path / "arm.json").read_text()) == {"part": {"number": 1}}


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog) -> None:
    (tmp_path / "viewer").write_text("a file")
    part = Part()
    kept = ViewSettings(tmp_path / "viewer", lambda: "arm", {"part": part})
    part.number = 1
    kept.on_exit(messages.ExitEvent())
    kept.on_exit(messages.ExitEvent())
    (record,) = caplog.records
    assert "cannot be written" in record.message


def plugins(state):
    """Return the parts of a viewer by type."""
    clients = FakeClients()
    shown = main_loop.panels(state, clients, EntityDisplays(state))
    return {type(it): it for it in main_loop._plugins(state, clients, shown)}


def test_the_next_viewer_of_a_scene_shows_the_same(context, state, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = plugins(state)
    signal = ("arm joints", "elbow_joint", "torque")
    before[PlotsPanel].update()
    before[PlotsPanel].signals.select(signal, True)
    before[PlotsPanel].axis.span_s = 5.0
    before[OverlaysPanel].shown["Balance"] = True
    before[OverlaysPanel].shown["External wrenches"] = False
    before[OverlaysPanel].scale.force = 0.5
    before[CamerasPanel].kind = ImageKind.DEPTH
    before[LogPanel].level = 40
    before[Application].config.show_inspector = False
    before[ViewSettings].on_exit(messages.ExitEvent())

    after = plugins(state)
    after[PlotsPanel].update()
    selected = after[PlotsPanel].signals.selected
    assert signal in [it.key for it in selected]
    assert len(selected) == len(before[PlotsPanel].signals.selected)
    assert after[PlotsPanel].axis.span_s == 5.0
    assert after[OverlaysPanel].shown == before[OverlaysPanel].shown
    assert after[OverlaysPanel].scale.force == 0.5
    assert after[CamerasPanel].kind is ImageKind.DEPTH
    assert after[LogPanel].level == 40
    assert not after[Application].config.show_inspector


@pytest.fixture
def built(context, state, monkeypatch):
    """Return a function that builds frames of an application with kept settings."""

    def build(kept: dict[str, Any]) -> Application:
        app = Application(state, FakeClients())
        app.restore(kept)
        app.viewer = SimpleNamespace(
            camera=mujoco.MjvCamera(), model=state.model, data=state.data, camera_index=-1
        )
        app.model, app.data = state.model, state.data
        monkeypatch.setattr("mujoco_ros.viewer.app.build_menu_bar", lambda *_: None)
        monkeypatch.setattr("mujoco_ros.viewer.app.build_windows", lambda *_, **__: None)
        monkeypatch.setattr("mujoco_ros.viewer.app.ux.setup_theme", lambda *_: None)
        monkeypatch.setattr("mujoco_ros.viewer.app.ux.view_gizmo_gui", lambda *_: None)
        docks = SimpleNamespace(begin_frame=lambda: (280.0, 24.0, 640.0, 500.0))
        monkeypatch.setattr("mujoco_ros.viewer.app.DOCKS", docks)
        app.viewer.camera.distance = 3.0
        for _ in range(6):
            imgui.NewFrame()
            app.build_gui()
            imgui.EndFrame()
        return app

    return build


def test_a_fitted_camera_is_fitted_again_and_a_moved_one_is_kept(built) -> None:
    first = built({})
    camera = first.viewer.camera
    assert camera.distance > 3.0, "fitted"
    camera.azimuth = float(np.float32(camera.azimuth))  # as the page returns it
    assert first.settings()["camera"] is None
    camera.azimuth += 30.0
    kept = first.settings()
    second = built(kept)
    assert second.viewer.camera.azimuth == camera.azimuth
    assert second.viewer.camera.distance == camera.distance
    assert second.settings() == kept


@pytest.mark.parametrize("name", ["followed", "model_camera"])
def test_a_followed_body_and_a_camera_of_the_model_are_kept(built, state, name) -> None:
    element = state.model.body(3) if name == "followed" else state.model.camera(0)
    first = built({"followed": "", "model_camera": "", name: element.name})
    camera = first.viewer.camera
    assert (camera.trackbodyid if name == "followed" else camera.fixedcamid) == element.id
    first._attached = state.model
    assert first.settings()[name] == element.name


@pytest.mark.parametrize(
    "settings",
    [
        {"camera": [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]},
        {"camera": [1.0, 2.0, float("nan"), 4.0, 5.0, 6.0]},
        {"camera": [1.0, 2.0, 3.0, 1e9, 5.0, 6.0]},
        {"camera": [1.0, 2.0]},
        {"camera": "here", "windows": [1]},
        {"followed": 3, "model_camera": "missing"},
        {"windows": {"Inspector": "closed", "Nothing": False}},
        {},
    ],
    ids=range(8),
)
def test_settings_that_are_not_valid_change_nothing(context, state, settings) -> None:
    app = Application(state, FakeClients())
    before = app.settings()
    app.restore(settings)
    assert app.settings() == before


@pytest.mark.parametrize(
    "settings",
    [
        {"shown": {"Balance": "yes"}, "force": "long", "torque": -1.0},
        {"shown": 5, "force": 1e300},
        {"signals": [5, ["a"]], "span_s": 7.0},
        {"signals": "all"},
        {"fields": [5, ["a"], ["/odom", 3]]},
        {"fields": 7},
        {"selected": [["arm"], 5, ["", "missing"], [[], {}]], "kind": "sound"},
        {"selected": [], "none_of": [["arm"], 5, ["", "missing"], [[], {}]]},
        {"selected": "all", "none_of": "all"},
        {"level": 99},
        {"level": "high"},
        {"level": [1]},
        {"entities": {"arm": {"visual": 3, "trail": None}, "box": 5}},
    ],
    ids=range(13),
)
def test_panels_ignore_what_is_not_valid(context, state, settings) -> None:
    for panel in main_loop.panels(state, FakeClients(), EntityDisplays(state)):
        panel.restore(settings)
        panel.settings()
        if isinstance(panel, PlotsPanel):
            panel.update()
            assert panel.axis.span_s == 10.0
            assert panel.fields.selected == []
        if isinstance(panel, OverlaysPanel):
            assert panel.scale.force == type(panel.scale)().force
        if isinstance(panel, LogPanel):
            assert panel.level == 20


def test_tabs_are_kept_once_the_mouse_was_clicked() -> None:
    docks = DockLayout()
    docks._front = {DockArea.BELOW: "Log"}
    assert docks.settings() == {}
    docks._is_clicked = True
    assert docks.settings() == {"BELOW": "Log"}
    docks = DockLayout()
    docks.restore({"BELOW": "Log"})
    assert docks.settings() == {"BELOW": "Log"}


def test_a_part_that_fails_is_no_reason_to_fail(tmp_path: Path, caplog) -> None:
    class Failing(Part):
        def restore(self, settings: Any) -> None:
            raise TypeError("unhashable")

    (tmp_path / "arm.json").write_text('{"one": {}, "two": {"number": 2}}')
    two = Part()
    ViewSettings(tmp_path, lambda: "arm", {"one": Failing(), "two": two})
    assert two.number == 2
    assert "'one' cannot be restored" in caplog.text


def test_a_kept_tab_is_preferred_to_those_that_panels_prefer() -> None:
    docks = DockLayout()
    docks.restore({"RIGHT_BELOW": "Inspector", "BELOW": 5, "ABOVE": "Log"})
    docks.prefer_tab(DockArea.RIGHT_BELOW, "Controller")
    docks.prefer_tab(DockArea.BELOW, "Log")
    assert docks._preferred == {DockArea.RIGHT_BELOW: "Inspector", DockArea.BELOW: "Log"}


CONTACT_POINT = int(mujoco.mjtVisFlag.mjVIS_CONTACTPOINT)
STATIC = int(mujoco.mjtVisFlag.mjVIS_STATIC)
WIREFRAME = int(mujoco.mjtRndFlag.mjRND_WIREFRAME)
SHADOW = int(mujoco.mjtRndFlag.mjRND_SHADOW)
KEPT = {
    "mjVIS_CONTACTPOINT": True,
    "mjVIS_STATIC": False,
    "mjRND_WIREFRAME": True,
    "mjRND_SHADOW": False,
    "geomgroup 1": False,
    "sitegroup 5": True,
    "label": "mjLABEL_BODY",
    "frame": "mjFRAME_WORLD",
}


def start(kept: dict[str, Any]) -> tuple[DisplayFlags, Any]:
    """Return the flags of a viewer that starts with kept settings, and the viewer."""
    flags, rendering = DisplayFlags(), ux.RenderFlags()
    rendering.flags = [1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1]  # as Studio sets them
    viewer = SimpleNamespace(vis_options=mujoco.MjvOption(), render_flags=rendering)
    flags.restore(kept)
    flags.viewer = viewer
    flags.on_viewer_init(plugin.ViewerInitEvent(viewer=viewer))
    return flags, viewer


def test_only_what_differs_from_the_start_is_kept_by_name():
    flags, viewer = start({})
    assert flags.settings() == {}
    options, rendering = viewer.vis_options, viewer.render_flags.flags
    options.flags[CONTACT_POINT], options.flags[STATIC] = 1, 0
    options.geomgroup[1], options.sitegroup[5] = 0, 1
    options.label = int(mujoco.mjtLabel.mjLABEL_BODY)
    options.frame = int(mujoco.mjtFrame.mjFRAME_WORLD)
    rendering[WIREFRAME], rendering[SHADOW] = 1, 0
    viewer.render_flags.flags = rendering
    assert flags.settings() == KEPT


def test_the_next_viewer_starts_with_what_is_kept():
    flags, viewer = start(KEPT)
    assert flags.settings() == KEPT
    options, rendering = viewer.vis_options, viewer.render_flags.flags
    assert (options.flags[CONTACT_POINT], options.flags[STATIC]) == (1, 0)
    assert options.geomgroup.tolist() == [1, 0, 1, 0, 0, 0]
    assert options.sitegroup.tolist() == [1, 1, 1, 0, 0, 1]
    assert options.label == mujoco.mjtLabel.mjLABEL_BODY
    assert options.frame == mujoco.mjtFrame.mjFRAME_WORLD
    assert (rendering[WIREFRAME], rendering[SHADOW]) == (1, 0)
    options.flags[CONTACT_POINT] = 0
    assert "mjVIS_CONTACTPOINT" not in flags.settings(), "it is as at the start again"


def test_what_is_kept_is_the_same_before_the_viewer_starts():
    flags = DisplayFlags()
    flags.restore(KEPT)
    assert flags.settings() == KEPT


@pytest.mark.parametrize(
    "invalid",
    [
        {"mjVIS_JOINT": 1},
        {"mjVIS_JOINT": "true"},
        {"mjVIS_OF_ANOTHER_VERSION": True},
        {"mjNVISFLAG": True},
        {"mjRND_FOG": None},
        {"mjRND_FOG": [True]},
        {"mjNRNDFLAG": True},
        {"geomgroup 6": True},
        {"geomgroup -1": True},
        {"geomgroup": [True]},
        {"label": 3},
        {"label": "mjNLABEL"},
        {"label": True},
        {"frame": "mjLABEL_BODY"},
        {"frame": ["mjFRAME_WORLD"]},
        {"__class__": True},
        {"": {}},
    ],
    ids=str,
)
def test_what_is_not_valid_is_ignored_and_the_rest_is_set(invalid):
    flags, viewer = start({"mjVIS_CONTACTPOINT": True, **invalid})
    assert flags.settings() == {"mjVIS_CONTACTPOINT": True}
    assert viewer.vis_options.flags[CONTACT_POINT] == 1
