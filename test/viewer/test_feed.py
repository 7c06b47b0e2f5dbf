"""The shared state in place of Studio's channel."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import messages
from still_state import StillState

from mujoco_ros.sim.shared_memory.reader import Update
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import MODEL_PATH, Feed, ModelEdited


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def state() -> StillState:
    return StillState("arm")


@pytest.fixture
def displays(state) -> EntityDisplays:
    return EntityDisplays(state)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def feed(state, displays, clock) -> Feed:
    feed = Feed(state, displays, clock)
    feed.get_sim_events()
    feed.get_sim_snapshots()
    return feed


def test_the_first_frame_has_the_model_and_its_state(state):
    feed = Feed(state, EntityDisplays(state))
    (event,) = feed.get_sim_events()
    assert isinstance(event, messages.ModelEvent)
    assert event.model is state.model
    (snapshot,) = feed.get_sim_snapshots()
    assert isinstance(snapshot, messages.StateSnapshot)
    assert feed.get_sim_events() == feed.get_sim_snapshots() == []


def test_a_new_state_is_returned_once_with_all_that_the_engine_needs(feed, state):
    state.data.qpos[:] = np.arange(state.model.nq) * 0.01
    state.data.xfrc_applied[3] = 1.0
    state.update_is = Update.STATE
    assert feed.get_sim_events() == []
    (snapshot,) = feed.get_sim_snapshots()
    copy = mujoco.MjData(state.model)
    mujoco.mj_setState(state.model, copy, snapshot.state, snapshot.state_sig)
    assert np.array_equal(copy.qpos, state.data.qpos)
    assert np.array_equal(copy.xfrc_applied, state.data.xfrc_applied)
    state.update_is = Update.NOTHING
    assert feed.get_sim_events() == feed.get_sim_snapshots() == []


def test_another_model_comes_with_its_state_and_keeps_the_camera(feed, state):
    state.load("quadruped")
    (event,) = feed.get_sim_events()
    assert (event.model, event.path) == (state.model, MODEL_PATH)
    assert len(feed.get_sim_snapshots()) == 1


def test_a_colour_reaches_the_page_but_not_with_every_frame(feed, state, clock):
    clock.time = 10.0
    for rgba, due in ((0.1, True), (0.2, False)):
        state.model.geom_rgba[0, 0] = rgba
        state.edits += 1
        assert bool(feed.get_sim_events()) is due
    clock.time = 11.0
    (event,) = feed.get_sim_events()
    assert isinstance(event, messages.ModelEvent), "the last colour is never shown"
    assert feed.get_sim_events() == []


def test_a_gain_is_not_a_new_model(feed, state, clock):
    clock.time = 10.0
    state.model.actuator_gainprm[0, 0] *= 2.0
    state.edits += 1
    assert feed.get_sim_events() == [ModelEdited(state.model)]
    assert feed.get_sim_events() == []


def test_long_frames_are_announced_and_the_end_of_the_simulator_is_an_exit(state):
    frames: list[bool] = []
    feed = Feed(state, EntityDisplays(state), on_frame=frames.append)
    feed.get_sim_events()
    feed.get_sim_events()
    feed.note_connection_change()
    feed.get_sim_events()
    assert frames == [True, False, True]
    state.ended = True
    assert feed.get_sim_events() == [messages.ExitEvent()]
    assert len(frames) == 4


def test_the_title_names_the_scene_and_other_names_of_robots(state):
    feed = Feed(state, EntityDisplays(state))
    assert feed.title == "arm \u2013 mujoco_ros"
    (robot,) = state.layout.robots
    state.layout = SimpleNamespace(robots=[robot] * 5)
    assert feed.title == "arm (arm, arm, arm, \u2026) \u2013 mujoco_ros"
    state.layout, state.metadata = SimpleNamespace(robots=[robot]), {"scene": "table"}
    assert feed.title == "table (arm) \u2013 mujoco_ros"
    state.layout = SimpleNamespace(robots=[])
    assert feed.title == "table \u2013 mujoco_ros"


def test_a_switched_part_of_an_entity_is_sent_at_once(feed, displays, state):
    geom = displays.entities["box"].geoms[0]
    displays.set("box", visual=False)
    (event,) = feed.get_sim_events()
    assert event.model is not state.model
    assert event.model.geom_group[geom] == 5
    assert state.model.geom_group[geom] < 3
    assert len(feed.get_sim_snapshots()) == 1
    assert feed.get_sim_events() == []
    displays.set("box", frames=True)
    assert feed.get_sim_events() == [], "which is not part of the model"
    displays.set("box", visual=True)
    (event,) = feed.get_sim_events()
    assert event.model is state.model
