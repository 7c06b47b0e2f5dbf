"""The messages of a page."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from fake_clients import FakeClients

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.teleop.session import TeleopSession
from mujoco_ros.viewer.web.access import Role

SPEEDS = {"forwards": 0.5, "left": 0.2, "turn": 1.0}
ZERO = [0, 0, 0]
TOOL, TWIST = "tool /arm/cartesian_controller", "/arm/cartesian_controller/target_twist"


@dataclass
class FakeStatus:
    values: dict[str, Any] = field(
        default_factory=lambda: {"movable": ["/cmd_vel", "/b/cmd_vel", TOOL, "target box"]}
    )
    cameras: dict[str, Any] = field(default_factory=dict)


@dataclass
class FakeMotion:
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def command(self, *call: Any) -> None:
        self.calls.append(call)

    def stop(self) -> None:
        self.calls.append(("stop",))


class Harness:
    def __init__(self, role: Role = Role.CONTROL) -> None:
        self.clients, self.motion, self.slot, self.time = (
            FakeClients(),
            FakeMotion(),
            ControlSlot(),
            0.0,
        )
        self.session = TeleopSession(
            self.clients, self.motion, SPEEDS, self.slot, role, FakeStatus(), lambda: self.time
        )

    def send(self, **message: Any) -> None:
        self.session.receive(json.dumps(message))

    def move(self, name: str = "/cmd_vel", linear: Any = (1, 0.5, 0), angular: Any = ZERO) -> None:
        self.send(move={"name": name, "linear": list(linear), "angular": list(angular)})


@pytest.fixture
def page() -> Harness:
    page = Harness()
    page.send(control="take")
    return page


def test_deflections_are_shares_of_the_largest_velocities(page):
    page.move(angular=(0, 0, -0.5))
    page.move("/b/cmd_vel", linear=(1, 1, 1), angular=(1, 1, 1))
    page.move(TOOL, linear=(1, -1, 0.5), angular=(1, -1, 0.5))
    assert page.clients.called("drive") == [
        ("/cmd_vel", (0.5, 0.1, 0.0), (0.0, 0.0, -0.5)),
        ("/b/cmd_vel", (0.5, 0.2, 0.0), (0.0, 0.0, 1.0)),
        (TWIST, (0.2, -0.2, 0.1), (0.8, -0.8, 0.4)),
    ]


@pytest.mark.parametrize(("name", "topic"), [("/cmd_vel", "/cmd_vel"), (TOOL, TWIST)])
def test_a_motion_ends_when_the_page_commands_nothing_for_half_a_second(page, name, topic):
    page.move(name)
    page.time = 0.4
    page.session.check()
    assert page.clients.called("stop") == []
    page.time = 0.6
    page.session.check()
    assert page.clients.called("stop") == [(topic,)]
    assert page.motion.calls == []


def test_a_page_that_sends_nothing_counts_as_gone(page):
    page.time = 4.0
    page.send(alive=True)
    page.time = 8.0
    assert not page.session.is_silent
    page.time = 9.5
    assert page.session.is_silent


@pytest.mark.parametrize("role", [Role.CONTROL, Role.WATCH])
def test_a_page_that_acknowledges_has_two_statuses_in_flight_with_their_time_on_its_clock(role):
    page = Harness(role)
    for _ in range(3):
        page.session.note_sent()
    assert (page.session.takes_status, page.session.mark(1.0)) == (True, None)
    page.time = 2.0
    page.send(received=1000.5)
    assert not page.session.takes_status
    assert [page.session.mark(at) for at in (1.5, 2.5)] == [500.5, 1500.5]
    assert page.session.mark(float("-inf")) is None, "no status is collected yet"
    page.time = 3.0
    page.send(received=2100)
    assert page.session.takes_status
    assert page.session.mark(3.0) == 2100.0


def test_another_robot_moves_only_after_the_first_one_has_stopped(page):
    page.move("/cmd_vel")
    page.move("/b/cmd_vel")
    assert [call[0] for call in page.clients.calls] == ["drive", "stop", "drive"]
    page.move("target box")
    assert page.clients.called("stop") == [("/cmd_vel",), ("/b/cmd_vel",)]
    assert page.motion.calls == [("target box", (1.0, 0.5, 0.0), (0.0, 0.0, 0.0), 0.5)]
    page.session.stop()
    assert page.motion.calls[-1] == ("stop",)
    assert len(page.clients.called("stop")) == 2, "it stops a robot that another page may drive"


def test_the_end_of_a_page_ends_its_motion_and_releases_control(page):
    page.move()
    page.session.close()
    assert page.clients.calls[-1] == ("stop", "/cmd_vel")
    assert page.slot.owner is None


def test_a_page_without_control_may_only_pause():
    page = Harness()
    for message in ({"play": True}, {"step": True}, {"transition": ["/walk", "go"]}):
        with pytest.raises(UserInputError, match="take control"):
            page.send(**message)
    page.send(pause=True)
    page.slot.take_control("other")
    with pytest.raises(UserInputError, match="another page has control"):
        page.move()
    assert page.clients.calls == [("pause",)]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("", "no JSON"),
        ("[" * 2000, "no JSON"),
        ("{}", "an object with one of: alive, camera"),
        ('{"quit": true}', "an object with one of: alive, camera"),
        ('{"play": true, "pause": true}', "an object with one of"),
        ('{"control": "seize"}', "control is one of: take, request, release, deny"),
        ('{"control": []}', "control is one of"),
        ('{"camera": "none"}', "'none' is none of: nothing"),
        ('{"transition": "go"}', "a list of a controller and a label"),
        ('{"received": null}', "a finite number"),
        ('{"received": NaN}', "a finite number"),
        ('{"received": true}', "a finite number"),
        (f'{{"received": -{10**400}}}', "a finite number"),
        ('{"move": null}', "a motion has: name, linear, angular"),
        ('{"move": {"name": [], "linear": [], "angular": []}}', "is none of: /cmd_vel"),
        ('{"move": {"name": "/x", "linear": [], "angular": []}}', "'/x' is none of: /cmd_vel"),
    ],
)
def test_an_invalid_message_names_the_error(page, message, error):
    with pytest.raises(UserInputError, match=error.replace("[", r"\[")):
        page.session.receive(message)
    assert page.clients.calls == []


@pytest.mark.parametrize(
    "linear",
    [
        [1, 0],
        [1, 0, 2],
        [1, 0, "0"],
        [True, 0, 0],
        [1, 0, float("nan")],
        [1e400, 0, 0],
        [10**400, 0, 0],
        1,
    ],
)
def test_only_finite_deflections_are_accepted(page, linear):
    with pytest.raises(UserInputError, match="linear"):
        page.send(move={"name": "/cmd_vel", "linear": linear, "angular": ZERO})
    assert page.clients.calls == []


def test_control_passes_to_the_pages_that_wait_in_their_order():
    slot = ControlSlot()
    for page in ("a", "b", "c", "b"):
        slot.request(page)
    slot.take_control("d")
    assert (slot.owner, slot.waiting) == ("a", ["b", "c"])
    slot.release("b")
    slot.release("a")
    assert (slot.owner, slot.waiting) == ("c", [])
    slot.release("c")
    assert slot.owner is None
    slot.take_control("d")
    assert slot.owner == "d"


def test_only_the_page_in_control_denies_requests():
    slot = ControlSlot()
    for page in ("a", "b", "c"):
        slot.request(page)
    slot.deny("b")
    assert slot.waiting == ["b", "c"]
    slot.deny("a")
    assert (slot.owner, slot.waiting) == ("a", [])
