"""The panel that the states of a controller declare."""

import json
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest
from scripted_states import CLASSES, PERIOD, ROBOT, seen
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.state_calls import StateError
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.ros.state_parameters import controller_panel
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import Button, DisplayedPlot, Form, SettingField
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.qos import LATCHED


class Grip(State):
    """Opens a hand by a button."""

    outcomes = ("done",)
    panel = (
        Button("Open", "open"),
        Button("Break", "fail"),
        SettingField("Force", "force"),
        DisplayedPlot("Opening", "opening", ("hand",), "m"),
        Form("Grasp", (SettingField("Force", "force"),), "Grasp", "grasp"),
    )
    has_live_settings = True

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Settings.

        Attributes:
            force: Largest force [N].
        """

        force: float = 5.0

    def start(self, context: StateContext) -> None:
        self.opened: list[float] = []

    def open(self, context: StateContext) -> None:
        self.opened.append(context.time)
        context.references.q[0] = 0.5

    def grasp(self, context: StateContext) -> None:
        context.references.q[0] = 0.01 * self.config.force

    def fail(self, context: StateContext) -> None:
        raise RuntimeError("the hand is stuck")

    def opening(self) -> list[float]:
        return [float(len(self.opened))]

    def run(self, context: StateContext) -> str | None:
        return None


TABLE = {
    "rate": 100,
    "initial": "GRIP",
    "states": {"GRIP": {"class": "Grip"}, "IDLE": {"class": "Hold"}},
    "transitions": {
        "GRIP": {"done": "IDLE", "leave": {"to": "IDLE", "trigger": "request"}},
        "IDLE": {"back": {"to": "GRIP", "trigger": "request"}},
    },
}


class Stepped:
    """A controller without a host, in the thread of the test."""

    def __init__(self, cls: type = Grip) -> None:
        table = table_from_dict(TABLE, CLASSES | {"Grip": cls}, name="hand", where="test")
        self.controller = FsmController(table)
        self.controller.configure(ROBOT)
        self.ticks = 0

    @property
    def machine(self) -> Any:
        return self.controller.machine

    def tick(self) -> Any:
        self.ticks += 1
        return self.controller.step(seen(), self.ticks * PERIOD)

    def submit(self, call: Any) -> "Future[Any]":
        done: Future[Any] = Future()
        try:
            done.set_result(call())
        except Exception as error:
            done.set_exception(error)
        return done


@pytest.fixture
def stepped() -> Stepped:
    return Stepped()


def test_a_button_calls_a_method_of_the_active_state_in_the_next_tick(stepped):
    machine, state = stepped.machine, stepped.machine.instances["GRIP"]
    with pytest.raises(UserInputError, match="'GRIP' is not active; none is"):
        machine.press("GRIP", "open")
    stepped.tick()
    machine.press("GRIP", "open")
    assert state.opened == []
    references = stepped.tick()
    assert state.opened == [pytest.approx(2 * PERIOD)]
    assert references.q[0] == 0.5
    stepped.tick()
    assert len(state.opened) == 1, "once"


def test_the_method_of_a_form_has_the_settings_of_the_form(stepped):
    stepped.tick()
    stepped.machine.configure("GRIP", {"force": 7.0})
    stepped.machine.press("GRIP", "grasp")
    assert stepped.tick().q[0] == pytest.approx(0.07)


def test_a_button_of_another_state_is_rejected(stepped):
    stepped.tick()
    stepped.machine.request("leave")
    stepped.tick()
    with pytest.raises(UserInputError, match="'GRIP' is not active; IDLE is"):
        stepped.machine.press("GRIP", "open")
    for state, method in (("GRIPS", "open"), ("GRIP", "run"), ("IDLE", "open")):
        with pytest.raises(UserInputError, match="not found"):
            stepped.machine.press(state, method)


def test_an_error_in_a_button_is_an_error_of_its_state(stepped):
    stepped.tick()
    stepped.machine.press("GRIP", "fail")
    with pytest.raises(RuntimeError, match="stuck") as failed:
        stepped.tick()
    place = stepped.machine.calls.place_of(failed.value)
    assert "state 'GRIP' (Grip.fail, test_controller_panel.py" in place


def test_too_many_buttons_are_rejected(stepped):
    stepped.tick()
    for _ in range(100):
        stepped.machine.press("GRIP", "open")
    with pytest.raises(UserInputError, match="'open' of state 'GRIP' is rejected: 100 buttons"):
        stepped.machine.press("GRIP", "open")
    stepped.tick()
    assert len(stepped.machine.instances["GRIP"].opened) == 100
    stepped.machine.press("GRIP", "open")


def test_a_display_is_evaluated_as_a_call_of_its_state(stepped):
    calls, state = stepped.machine.calls, stepped.machine.instances["GRIP"]
    stepped.tick()
    assert calls.evaluate("GRIP", state.opening) == [0.0]
    state.opening = lambda: sys.exit(3)
    ended: list[Exception] = []

    def evaluate() -> None:
        with pytest.raises(StateError, match="it raised SystemExit") as failed:
            calls.evaluate("GRIP", state.opening)
        ended.append(failed.value)

    thread = threading.Thread(target=evaluate)
    thread.start()
    thread.join()
    assert len(ended) == 1
    limits: list[str] = []
    calls.guard = lambda method, context: (limits.append(calls.path), method(context))[1]
    state.opening = lambda: [2.0]
    assert calls.evaluate("GRIP", state.opening) == [2.0]
    assert limits == ["GRIP"]


def test_a_reset_forgets_buttons(stepped):
    stepped.tick()
    stepped.machine.press("GRIP", "open")
    stepped.controller.reset()
    stepped.tick()
    assert stepped.machine.instances["GRIP"].opened == []


def test_the_panel_is_served(stepped, ros_node, spin_until):
    panel = controller_panel(Endpoints(ros_node), stepped.machine, stepped.submit)
    name = f"{ros_node.get_fully_qualified_name()}/panel"
    descriptions: list[String] = []
    numbers: list[Float64MultiArray] = []
    ros_node.create_subscription(String, name, descriptions.append, LATCHED)
    ros_node.create_subscription(Float64MultiArray, f"{name}/GRIP/opening", numbers.append, 10)
    client = ros_node.create_client(Trigger, f"{name}/GRIP/open")
    assert spin_until(lambda: descriptions and client.service_is_ready())
    (group,) = json.loads(descriptions[0].data)["groups"]
    assert group["items"][2]["parameter"] == "GRIP.force"
    assert group["items"][2]["tip"] == "Largest force [N]"
    stepped.tick()
    answer = client.call_async(Trigger.Request())
    assert spin_until(answer.done)
    assert answer.result().success, answer.result().message

    def published() -> bool:
        stepped.tick()
        panel.publish(stepped.ticks * PERIOD)
        return bool(numbers)

    assert spin_until(published)
    assert numbers[-1].data.tolist() == [1.0]
    panel.close()
    ros_node.destroy_client(client)


def test_a_panel_that_names_an_unknown_method_is_rejected(ros_node):
    class Wrong(Grip):
        panel = (Button("Open", "opn"),)

    with pytest.raises(UserInputError, match=r"GRIP names the method 'opn', which Wrong does not"):
        controller_panel(Endpoints(ros_node), Stepped(Wrong).machine, Stepped(Wrong).submit)
