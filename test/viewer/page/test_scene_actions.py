"""Drags and keys in the scene of a page, and when drags end."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from fake_clients import FakeClients

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import PAUSED, PLAYING, ParameterInfo
from mujoco_ros.viewer.dragged_frames import DraggedFrames
from mujoco_ros.viewer.page.scene_actions import OpenPage, SceneActions
from mujoco_ros.viewer.page.session import Shared
from mujoco_ros.viewer.scene.entries import HandleEntry
from mujoco_ros.viewer.scene.inputs import DragPhase, HandleDragged, KeyPressed, Picked, Pulled

ORIGIN, UPRIGHT = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class Frame:
    """Has one frame."""

    def __init__(self) -> None:
        self.moves: list[tuple[str, str, Pose]] = []
        self.releases = 0

    def entries(self):
        yield HandleEntry(name="goal", pose=Pose())

    def drag(self, frame: str, handle: str, pose: Pose) -> None:
        self.moves.append((frame, handle, pose))

    def release(self) -> None:
        self.releases += 1


class Pages:
    """Two open pages of an arm, whose scenes have the numbers 1 and 2."""

    def __init__(self, state) -> None:
        self.now, self.clients, self.frame = 100.0, FakeClients(), Frame()
        self.shared = Shared(state, self.clients, lambda _seconds: None)
        handles = DraggedFrames((self.frame,))
        self.shared.handles = handles
        handles.entries()
        self.heard = {1: self.now, 2: self.now}
        self.refused: list[int] = []  # pages that were told that they have no control
        self.taken: set[str] = set()  # keys that act on the page
        self.sessions = {
            number: SimpleNamespace(
                client=nullcontext(),
                can_control=True,
                is_read_only=False,
                state=state,
                clients=self.clients,
                shared=self.shared,
                refuse=lambda number=number: self.refused.append(number),
            )
            for number in (1, 2)
        }
        self.actions = SceneActions(self.page, lambda: self.now)

    def page(self, number: int) -> OpenPage | None:
        if number not in self.heard:
            return None
        layout = SimpleNamespace(handle_key=lambda key: key in self.taken)
        return OpenPage(self.sessions[number], layout, self.heard[number])

    def pull(self, number: int = 1, phase: DragPhase = DragPhase.BEGIN) -> None:
        body = self.shared.state.model.body("arm/wrist_3_link").id
        self.actions.handle(
            number,
            Pulled(
                body=body,
                phase=phase,
                rotates=False,
                local=ORIGIN,
                position=ORIGIN,
                quat_wxyz=UPRIGHT,
            ),
        )

    def drag(self, number: int = 1, phase: DragPhase = DragPhase.BEGIN) -> None:
        self.actions.handle(
            number,
            HandleDragged(
                frame="goal",
                handle="move x",
                phase=phase,
                position=(1.0, 2.0, 3.0),
                quat_wxyz=UPRIGHT,
            ),
        )

    def press(self, key: str, number: int = 1) -> list:
        self.clients.calls.clear()
        self.actions.handle(number, KeyPressed(key=key))
        return self.clients.calls

    @property
    def releases(self) -> int:
        return len(self.clients.called("release"))


@pytest.fixture
def pages(state) -> Pages:
    yield Pages(state)
    state.shown = None


def test_a_pull_lasts_from_the_press_to_the_release(pages):
    pages.pull()
    pages.pull(phase=DragPhase.MOVE)
    pages.actions.tick()
    assert (len(pages.clients.called("pull")), pages.releases) == (2, 0)
    pages.pull(phase=DragPhase.END)
    pages.pull(phase=DragPhase.MOVE)  # late
    assert (len(pages.clients.called("pull")), pages.releases) == (3, 1)


def is_closed(pages):
    del pages.heard[1]


def loses_control(pages):
    pages.sessions[1].can_control = False


def is_silent(pages):
    pages.now += 2.1


def shows_the_past(pages):
    pages.shared.state.shown = object()


def is_a_replay(pages):
    pages.clients.parameters.known["at_end"] = ParameterInfo(value="pause")


@pytest.mark.parametrize(
    "happens", [is_closed, loses_control, is_silent, shows_the_past, is_a_replay]
)
def test_a_drag_ends_when_its_page(pages, happens):
    pages.pull()
    happens(pages)
    pages.actions.tick()
    pages.actions.tick()
    assert pages.releases == 1


@pytest.mark.parametrize("happens", [is_closed, loses_control, shows_the_past, is_a_replay])
def test_no_drag_begins_when_the_page(pages, happens):
    happens(pages)
    pages.pull()
    pages.drag()
    assert pages.clients.calls == pages.frame.moves == []


def test_a_pull_goes_on_while_the_page_sends_something(pages):
    pages.pull()
    for _ in range(5):
        pages.now += 1.5
        pages.heard[1] = pages.now
        pages.actions.tick()
    assert pages.releases == 0


def test_a_pull_ends_when_the_model_changes(pages, state, monkeypatch):
    pages.pull()
    monkeypatch.setattr(state, "model", state.model.__copy__())
    pages.actions.tick()
    assert pages.releases == 1


def test_the_newest_drag_ends_the_one_before(pages):
    pages.pull()
    pages.drag(number=2)
    assert (pages.releases, len(pages.frame.moves)) == (1, 1)
    pages.pull(phase=DragPhase.MOVE)
    assert pages.frame.releases == 1


def test_a_handle_that_is_held_moves_its_frame_again_and_again(pages):
    pages.drag()
    pages.actions.tick()
    pages.drag(phase=DragPhase.END)
    pages.actions.tick()
    assert [move[:2] for move in pages.frame.moves] == [("goal", "move x")] * 3
    assert pages.frame.moves[0][2].position.tolist() == [1.0, 2.0, 3.0]
    assert pages.frame.releases == 1


def test_space_and_the_arrow_depend_on_the_shared_state_not_on_the_services(pages, state):
    pages.clients.simulation.status = PAUSED
    assert pages.press("Space") == [("pause",)]
    assert pages.press("ArrowRight") == []
    pages.clients.simulation.status, state.paused = PLAYING, True
    assert pages.press("Space") == [("play",)]
    assert pages.press("ArrowRight") == [("step", 1)]


def test_the_speed_is_halved_and_doubled_if_it_is_limited(pages, state):
    state.factor = 0.5
    assert pages.press("Minus") == [("set_speed", 0.25)]
    assert pages.press("Equal") == [("set_speed", 1.0)]
    state.factor = 0.0
    assert pages.press("Equal") == []


def test_a_key_that_acts_on_the_page_does_nothing_else(pages, state):
    state.paused = True
    pages.taken = {"ArrowRight"}
    assert pages.press("ArrowRight") == []
    assert pages.press("Backspace") == [("reset", "time", "state")]


def test_keys_need_control(pages):
    loses_control(pages)
    assert (pages.press("KeyX"), pages.refused) == ([], [])
    assert (pages.press("Backspace"), pages.refused) == ([], [1]), "the page says so"
    assert (pages.press("Space"), pages.refused) == ([("pause",)], [1]), "as its button"
    pages.sessions[1].state.paused = True
    assert (pages.press("Space"), pages.refused) == ([], [1, 1])
    pages.sessions[1].state.paused, pages.sessions[1].is_read_only = False, True
    assert (pages.press("Space"), pages.refused) == ([], [1, 1, 1])


def test_an_action_that_fails_leaves_the_connection_open(pages, monkeypatch, caplog):
    monkeypatch.setattr(pages.clients.simulation, "pause", lambda: 1 / 0)
    pages.press("Space")
    assert "ZeroDivisionError" in caplog.text


def test_a_double_click_moves_nothing(pages):
    picked = Picked(body=1, geom=0, point=ORIGIN, local=ORIGIN, button="left", with_ctrl=False)
    pages.actions.handle(1, picked)
    assert pages.clients.calls == []
