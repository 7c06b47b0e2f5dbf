"""One controller of several robots in a simulation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_states import CLASSES, SEEN

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.runtime.controller_set import ControllerSet
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.model.strict import parse_yaml
from mujoco_ros.sim.simulation import Simulation

POLE = """
<mujoco>
  <worldbody><body name="pole">
    <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
    {extra}
  </body></worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <sensor><gyro site="tip" name="gyro"/></sensor>
</mujoco>
"""
TIP = '<site name="tip" pos="0 0 .3"/>'
ARM = """
    <body pos="0 0 .3"><joint name="wrist" axis="0 1 0" damping="1"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .1"/></body>
"""
MEETING: Key[float] = Key("test/meeting", float)


class Mirror(State):
    """Moves the hinge of one robot to the negative position of the other."""

    outcomes = ("done",)

    def run(self, context: StateContext) -> str | None:
        seen = context.observation.robots
        context.references.robots["near"].q[0] = -seen["far"].q[0]
        own = context.robots["near"]
        assert own.references.q[0] == context.references.q[2]
        assert own.observation is seen["near"]
        return None


class Share(State):
    """Writes a value for both robots, and one for its own."""

    outcomes = ("done",)

    def configure(self, robot: Any, store: Store) -> None:
        self.robot, self.store = robot, store

    def run(self, context: StateContext) -> str | None:
        gains = context.store.get(GAINS_GET)()
        context.store.get(GAINS_SET)(Gains(kp=np.full_like(gains.kp, 50.0), kd=gains.kd))
        context.store.set(MEETING, 1.0)
        return "done"


TABLE = """
rate: 200
robots: {far: right, near: left}
initial: MOVE
states:
  MOVE: {class: Ramp, robot: far, duration: 0.1}
  MIRROR: {class: Mirror}
transitions:
  MOVE: {done: MIRROR}
  MIRROR: {done: MIRROR}
"""


def controller(text: str, **provided: Any) -> FsmController:
    classes = {**CLASSES, "Mirror": Mirror, "Share": Share}
    made = FsmController(
        table_from_dict(parse_yaml(text, "test"), classes, name="test", where="test.yaml")
    )
    for key in (SEEN,):
        if "seen" in provided:
            made.store.provide(key, provided["seen"])
    return made


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    """A pole on the left, and one with a wrist on the right."""
    (tmp_path / "pole.xml").write_text(POLE.format(extra=TIP))
    (tmp_path / "arm.xml").write_text(POLE.format(extra=TIP + ARM))
    (tmp_path / "gains.yaml").write_text("hinge: {kp: 100, kd: 5}\n")
    robots = tuple(
        RobotConfig(name=name, model=model, gains="gains.yaml", pose=PoseConfig(xyz=(x, 0.0, 0.0)))
        for name, model, x in (("left", "pole.xml", 0.0), ("right", "arm.xml", 1.0))
    )
    return Simulation(
        SceneConfig(
            name="poles", folder=tmp_path, robots=robots, physics=PhysicsConfig(timestep=0.001)
        )
    )


def run(host: ControllerHost, steps: int) -> None:
    for _ in range(steps):
        assert host.step()
        assert not host.supervised.error


def test_states_act_on_one_robot_or_on_all(simulation):
    seen: list[Any] = []
    host = ControllerHost(simulation, controller(TABLE, seen=seen))
    assert host.robot == "right, left"
    assert host.claims == {"right": ("hinge", "wrist"), "left": ("hinge",)}
    robot = host.supervised.controller._robot
    assert robot.joints == ("far/hinge", "far/wrist", "near/hinge")
    assert robot.robots["near"].joints == ("hinge",)
    run(host, 100)
    left, right = simulation.layout.columns
    assert simulation.references.q[right][0] == pytest.approx(0.094, abs=1e-9)
    assert simulation.references.q[left] == [0.0], "no state has commanded it yet"
    assert [len(it.q) for it in seen] == [2] * len(seen), "of its robot alone"
    assert set(seen[0].imus) == {"tip"}
    run(host, 100)
    measured = simulation.sample.qpos[simulation.layout.robots[1].joints.qpos[0]]
    assert abs(measured) > 0.02
    assert simulation.references.q[left][0] == pytest.approx(-measured, abs=1e-3)


def test_two_runs_are_bit_identical(simulation):
    host = ControllerHost(simulation, controller(TABLE))
    ends = []
    for _ in range(2):
        run(host, 300)
        ends.append((simulation.data.qpos.tobytes(), simulation.references.values.tobytes()))
        simulation.reset()
        assert host.supervised.state == "MOVE"
    assert ends[0] == ends[1]


def test_each_robot_has_functions_of_the_host_and_values_of_its_own(simulation):
    text = TABLE.replace("{class: Mirror}", "{class: Share, robot: near}")
    host = ControllerHost(simulation, controller(text))
    notified = []
    host.on_gains.append(lambda: notified.append(True))
    run(host, 120)
    assert simulation.drives.kp.tolist() == [50.0, 100.0, 0.0]
    assert notified
    made = host.supervised.controller
    assert MEETING in made.stores["near"]
    assert MEETING not in made.stores["far"]
    assert MEETING not in made.store
    share = made.machine.instances["MIRROR"]
    assert (share.robot.name, share.store) == ("left", made.stores["near"])
    host.deactivate()
    assert simulation.drives.kp.tolist() == [100.0, 100.0, 0.0]


def test_a_shared_value_is_read_from_the_store_of_each_robot():
    shared = Store()
    own = Store(shared)
    shared.set(MEETING, 1.0)
    assert (own.get(MEETING), MEETING in own, own.names) == (1.0, True, ("test/meeting",))
    own.set(MEETING, 2.0)
    assert (own.get(MEETING), shared.get(MEETING)) == (2.0, 1.0)
    own.clear()
    assert own.get(MEETING) == 1.0


def test_the_robots_can_be_others_than_those_of_the_table(simulation):
    host = ControllerHost(simulation, controller(TABLE), "far=left, near=right")
    assert host.claims == {"left": ("hinge",), "right": ("hinge", "wrist")}


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("left", "robot 'left': expected far=<robot>, near=<robot>"),
        ("middle=left", "robot 'middle=left': expected far=<robot>, near=<robot>"),
        ("far=left", "robot 'left' cannot be two robots of a controller"),
        ("far=other", "robot 'other' not found; robots with joints: left, right"),
    ],
)
def test_wrong_robots_are_rejected(simulation, robot, message):
    with pytest.raises(UserInputError, match=message):
        ControllerHost(simulation, controller(TABLE), robot)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "robot: far",
            "robot: up",
            "state 'MOVE': robot 'up' not found; there are: far, near",
        ),
        (
            "robots: {far: right, near: left}",
            "",
            "'MOVE' has the key 'robot', and the table has no",
        ),
        ("near: left", "near: right", "robots.far: 'right' is listed twice"),
        ("near: left", "near: 3", r"robots\.near: expected"),
    ],
)
def test_wrong_robots_of_a_table_are_rejected(old, new, message):
    with pytest.raises(UserInputError, match=message):
        controller(TABLE.replace(old, new))


def test_a_state_acts_on_the_robot_of_the_enclosing_state():
    text = """
rate: 100
robots: {a: left, b: right}
initial: ALL
states:
  ALL:
    robot: a
    machine:
      initial: IN
      states: {IN: {class: Hold, outcome: over}}
  BOTH:
    parallel: {ONE: {class: Wait, robot: a}, TWO: {class: Wait, robot: b}}
    join: [{when: {ONE: done, TWO: done}, outcome: done}]
transitions: {ALL: {over: BOTH}, BOTH: {done: ALL}}
"""
    assert controller(text).machine.robots == {
        "": "",
        "ALL": "a",
        "ALL/IN": "a",
        "BOTH": "",
        "BOTH/ONE": "a",
        "BOTH/TWO": "b",
    }
    with pytest.raises(UserInputError, match="'ALL/IN' acts on robot 'b', but it is inside 'ALL'"):
        controller(text.replace("{class: Hold,", "{class: Hold, robot: b,"))


def test_a_controller_of_several_robots_shares_none_with_another(simulation):
    controllers = ControllerSet()
    controllers.add("both", ControllerHost(simulation, controller(TABLE)))
    other = controller("rate: 100\ninitial: A\nstates: {A: {class: Hold, outcome: over}}")
    with pytest.raises(UserInputError, match=r"'both' and 'one' both command .* 'left': hinge;"):
        controllers.add("one", ControllerHost(simulation, other, "left"))


def test_a_controller_continues_in_another_model_and_stops_without_one_robot(simulation):
    host = ControllerHost(simulation, controller(TABLE))
    run(host, 150)
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly)), fresh=False)
    run(host, 50)
    simulation.switch_model(
        simulation.build_plant(rebuild(simulation.assembly, remove=["right"])), fresh=False
    )
    assert host.step()
    assert host.supervised.error == "robot 'right' was removed"
    assert np.isfinite(simulation.references.values).all()
