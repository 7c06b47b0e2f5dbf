"""Studio's window gets the shared state in place of its own simulation."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import messages
from still_state import StillState

from mujoco_ros.viewer.scene_title import scene_title
from mujoco_ros.viewer.window import Feed, NoDisplayError, show_window


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def state() -> StillState:
    return StillState("arm")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def feed(state, clock) -> Feed:
    feed = Feed(state, clock, rest=lambda _seconds: None)
    feed.get_sim_events()
    return feed


def test_the_first_frame_has_the_model_and_each_frame_all_that_the_engine_needs(state, clock):
    feed = Feed(state, clock, rest=lambda _seconds: None)
    (event,) = feed.get_sim_events()
    assert isinstance(event, messages.ModelEvent)
    assert event.model is state.model
    assert feed.get_sim_events() == []
    state.data.qpos[:] = np.arange(state.model.nq) * 0.01
    state.data.xfrc_applied[3] = 1.0
    for _ in range(2):  # what Studio's tools do to its copy does not last
        (snapshot,) = feed.get_sim_snapshots()
        copy = mujoco.MjData(state.model)
        mujoco.mj_setState(state.model, copy, snapshot.state, snapshot.state_sig)
        assert np.array_equal(copy.qpos, state.data.qpos)
        assert np.array_equal(copy.xfrc_applied, state.data.xfrc_applied)


def test_a_model_of_the_same_scene_keeps_the_camera_and_another_scene_has_its_own(feed, state):
    state.load("arm")
    (same,) = feed.get_sim_events()
    state.load("quadruped")
    (other,) = feed.get_sim_events()
    assert (same.path, other.path) == ("arm", "quadruped")
    assert other.model is state.model
    assert len(feed.get_sim_snapshots()[0].state) == mujoco.mj_stateSize(
        state.model, mujoco.mjtState.mjSTATE_INTEGRATION
    )


def test_an_edit_reaches_the_window_but_not_with_every_frame(feed, state, clock):
    clock.now = 10.0
    for is_due in (True, False):
        state.edits += 1
        assert bool(feed.get_sim_events()) is is_due
    clock.now = 10.6
    assert len(feed.get_sim_events()) == 1, "the last edit is never shown"
    assert feed.get_sim_events() == []


def test_frames_are_heartbeats_and_the_end_of_the_simulator_is_an_exit(feed, state):
    before = state.beats
    feed.send_to_sim(messages.ResetEvent())
    feed.get_sim_events()
    assert state.beats == before + 1
    state.ended = True
    assert feed.get_sim_events() == [messages.ExitEvent()]


def test_the_window_has_at_most_thirty_frames_a_second(state, clock):
    def rest(seconds: float) -> None:
        clock.now += seconds

    feed = Feed(state, clock, rest)
    starts = []
    for drawing in (0.005, 0.005, 0.2, 0.005):  # one frame takes long, and the next is due at once
        feed.get_sim_events()
        starts.append(clock.now)
        clock.now += drawing
    np.testing.assert_allclose(np.diff(starts), [1 / 30, 1 / 30, 0.2])


def test_the_error_without_a_display_names_what_is_missing(state, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoDisplayError, match="DISPLAY and WAYLAND_DISPLAY are not set"):
        show_window(state)


def test_without_a_display_there_is_the_page(start, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    simulator = start.simulator(scene="arm", cameras="false", viewer="native")
    simulator.wait_for_log("the viewer is at http://")
    simulator.wait_for_log(
        "child process 'window' is not available: mujoco_ros: error: no display for the viewer's "
        "window: DISPLAY and WAYLAND_DISPLAY are not set; the page needs no display"
    )
    assert simulator.stop() == 0


def test_the_title_names_the_scene_and_other_names_of_robots(state):
    assert scene_title(state) == "arm"
    (robot,) = state.layout.robots
    state.layout = SimpleNamespace(robots=[robot] * 5)
    assert scene_title(state) == "arm (arm, arm, arm, \u2026)"
    state.layout, state.metadata = SimpleNamespace(robots=[robot]), {"scene": "table"}
    assert scene_title(state) == "table (arm)"
    state.layout = SimpleNamespace(robots=[])
    assert scene_title(state) == "table"
