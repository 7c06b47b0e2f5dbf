"""Several controllers in a running simulator, listed and switched as `ros2 control` does."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from controller_manager_msgs.srv import ListControllers, SwitchController
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs import msg, srv
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import WAIT_LIMIT_S, SimulatorLauncher

from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.controllers.ros.controller_settings import controller_settings
from mujoco_ros.model.errors import UserInputError

TABLE = """
rate: 200
initial: IDLE
states:
  IDLE: {class: Hold}
  WORK: {class: Wait, duration: 100.0}
transitions:
  IDLE: {go: {to: WORK, trigger: request}}
  WORK: {done: IDLE}
"""
POLE = """
<mujoco>
  <worldbody><body name="pole">
    <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
    <body pos="0 0 .3">
      <joint name="wrist" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .1"/>
    </body>
  </body></worldbody>
  <actuator><motor joint="hinge"/><motor joint="wrist"/></actuator>
</mujoco>
"""
SCENE = """
robots:
  - {name: left, model: pole.xml}
  - {name: right, model: pole.xml, pose: {xyz: [1.0, 0.0, 0.0]}}
physics: {timestep: 0.001}
"""
STRICT, BEST_EFFORT = SwitchController.Request.STRICT, SwitchController.Request.BEST_EFFORT


class Several:
    """A simulator with two robots and four controllers, one of them inactive."""

    def __init__(self, start: SimulatorLauncher, folder: Path) -> None:
        for name, text in (("worker.yaml", TABLE), ("pole.xml", POLE), ("poles.yaml", SCENE)):
            (folder / name).write_text(text)
        worker = folder / "worker.yaml"
        given = {
            "controllers": f"['{worker}', upper, lower, other]",
            "worker.robot": "left",
            **{f"{name}.type": worker for name in ("upper", "lower", "other")},
            **{f"{name}.robot": "right" for name in ("upper", "lower", "other")},
            "upper.joints": "[wrist]",
            "lower.joints": "[hinge]",
            "lower.step_by_step": True,
            "other.active": False,
            "upper:WORK.duration": 0.1,
        }
        self.remote = SimulatorClient(start, robot="left", scene=folder / "poles.yaml", **given)
        self.listener = self.remote.listener
        self.diagnostics = self.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
        self._clients: dict[str, Any] = {}

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        if service not in self._clients:
            client = self.listener.node.create_client(kind, service)
            assert self.listener.spin_until(client.service_is_ready)
            self._clients[service] = client
        return self.listener.result(self._clients[service].call_async(kind.Request(**fields)))

    def listed(self) -> dict[str, Any]:
        listed = self.call(ListControllers, "/mujoco/list_controllers").controller
        return {it.name: it for it in listed}

    @property
    def active(self) -> list[str]:
        return [name for name, it in self.listed().items() if it.state == "active"]

    def switch(self, activate=(), deactivate=(), strictness=STRICT) -> Any:
        return self.call(
            SwitchController,
            "/mujoco/switch_controller",
            activate_controllers=list(activate),
            deactivate_controllers=list(deactivate),
            strictness=strictness,
        )

    def state(self, name: str) -> str:
        return str(self.call(srv.GetState, f"/{name}/get_state").current_state.label)

    def change(self, name: str, label: str) -> bool:
        wanted = msg.Transition(label=label)
        return bool(self.call(srv.ChangeState, f"/{name}/change_state", transition=wanted).success)

    def rows(self) -> dict[str, DiagnosticStatus]:
        count = len(self.diagnostics)
        assert self.listener.spin_until(lambda: len(self.diagnostics) > count + 1)
        rows = {row.name: row for row in self.diagnostics.messages[-1].status}
        return {
            n.removeprefix("mujoco: controller "): r for n, r in rows.items() if "controller" in n
        }


@pytest.fixture(scope="module")
def several(start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory) -> Several:
    return Several(start_shared, tmp_path_factory.mktemp("several"))


def test_controllers_are_listed_with_their_interfaces(several):
    listed = several.listed()
    assert list(listed) == ["worker", "upper", "lower", "other"], "in the order of their ticks"
    assert several.active == ["worker", "upper", "lower"]
    upper, other = listed["upper"], listed["other"]
    assert (upper.type.endswith("worker.yaml"), upper.update_rate, upper.is_async) == (
        *(True, 200, False),
    )
    own = [f"right/wrist/{it}" for it in ("position", "velocity", "effort")]
    assert list(upper.claimed_interfaces) == list(upper.required_command_interfaces) == own
    assert list(upper.required_state_interfaces) == own
    assert (other.state, list(other.claimed_interfaces)) == ("inactive", [])
    assert len(other.required_command_interfaces) == 6


def test_each_controller_has_its_own_node_parameters_and_row(several):
    for name in ("worker", "upper", "lower"):
        assert several.change(name, "go")
    assert several.listener.spin_until(lambda: several.state("upper") == "IDLE"), "after 0.1 s"
    assert (several.state("worker"), several.state("lower")) == ("WORK", "WORK")
    assert several.state("other") == "inactive"
    rows = several.rows()
    assert set(rows) == {"worker", "upper", "lower", "other"}
    assert {it.level for it in rows.values()} == {DiagnosticStatus.OK}
    values = {it.key: it.value for it in rows["lower"].values}
    assert (values["controller"], values["robot"], values["state"]) == ("lower", "right", "WORK")
    assert rows["other"].message == "inactive"
    assert several.listener.get_parameter("lower.joints") == ["hinge"]
    assert several.remote.call("ResetSimulation").result.result == Result.RESULT_OK
    assert several.listener.spin_until(lambda: several.state("worker") == "IDLE")
    assert several.state("other") == "inactive"


def test_a_switch_is_strict_or_of_best_effort(several):
    refused = several.switch(["other"])
    assert (refused.ok, refused.message) == (
        False,
        "controllers 'upper' and 'other' both command joints of robot 'right': wrist; deactivate "
        "one, or give each its own joints",
    )
    assert not several.switch(["other"], ["upper", "lower", "absent"]).ok
    assert several.active == ["worker", "upper", "lower"], "nothing has changed"
    made = several.switch(["other"], ["upper", "lower"])
    assert (made.ok, made.message) == (True, "all controllers are as requested")
    assert several.active == ["worker", "other"]
    partly = several.switch(["other", "absent"], ["upper"], BEST_EFFORT)
    assert partly.ok
    assert partly.message.startswith("left out: controller 'absent' not found")
    assert not several.switch(["upper"], [], BEST_EFFORT).ok
    assert several.change("other", "deactivate")
    assert several.change("upper", "activate")
    assert several.active == ["worker", "upper"]
    assert several.switch(["lower"], [], 0).ok, "best effort is the default"
    assert several.active == ["worker", "upper", "lower"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"controller": "grasp_reflex", "controllers": ("stand",)},
            "the parameters 'controller' and 'controllers' exclude each other; add 'grasp_reflex'",
        ),
        (
            {"controllers": ("grasp_reflex",), "controller_robot": "arm"},
            "the parameter 'controller_robot' is for a single 'controller'",
        ),
        (
            {"controllers": ("grasp_reflex", "grasp_reflex")},
            "parameter 'controllers' has two controllers named 'grasp_reflex'",
        ),
    ],
)
def test_settings_that_exclude_each_other_are_rejected(given, message):
    values = {spec.name: spec.default for spec in PARAMETERS} | given
    with pytest.raises(UserInputError, match=re.escape(message)):
        controller_settings(SimpleNamespace(values=values))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"controllers": "[a, b]", "a.type": "grasp_reflex", "b.type": "grasp_reflex"},
            "controllers 'a' and 'b' both command joints of robot 'arm': shoulder_pan_joint, ",
        ),
        (
            {"controllers": "[a]", "a.type": "grasp_reflex", "a.joints": "[wrist]"},
            "robot 'arm': joint 'wrist' not found",
        ),
        ({"controllers": "[a]"}, "controller 'a' not found; there are: grasp_reflex, "),
        ({"controllers": "arm.yaml"}, "parameter file is for 'controllers_file'"),
        (
            {"controllers": "[grasp_reflex]", "grasp_reflex.tpye": "x"},
            "did you mean 'grasp_reflex.",
        ),
    ],
)
def test_wrong_settings_are_rejected_at_the_start(start, given, message):
    simulator = start.simulator(scene="arm", **given)
    assert simulator.process.wait(WAIT_LIMIT_S) != 0
    assert message in simulator.log
