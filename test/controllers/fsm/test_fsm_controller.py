from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
import yaml
from scripted_states import CLASSES, PERIOD, ROBOT, Scripted, seen, table

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import Hold
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.model.errors import UserInputError

ONE = "{rate: 50, initial: A, states: {A: {class: Scripted}}, transitions: {A: {done: A, slip: A}}}"


@pytest.fixture
def controller() -> FsmController:
    made = FsmController(table(ONE), seed=7)
    made.configure(ROBOT)
    return made


def test_references_start_at_the_measured_positions_and_keep_their_values(controller):
    references = controller.step(seen(0.3), 0.0)
    assert np.array_equal(references.values, [[0.3, 0.3], [0.0, 0.0], [0.0, 0.0]])
    references.q[:] = 0.5
    assert np.array_equal(controller.step(seen(0.4), PERIOD).q, [0.5, 0.5])
    controller.reset()
    assert np.array_equal(controller.step(seen(0.4), 0.0).q, [0.4, 0.4])


def test_a_state_gets_the_tick_and_the_observation(controller):
    ticks = []
    state = controller.machine.instances["A"]
    state.run = lambda context: ticks.append(
        (context.time, context.elapsed, context.period, context.seed, context.observation.q[0])
    )
    controller.step(seen(0.1), 4.0)
    controller.step(seen(0.2), 4.02)
    assert ticks == [(4.0, 0.0, 0.02, 7, 0.1), (4.02, pytest.approx(0.02), 0.02, 7, 0.2)]


def test_awaited_futures_are_cleared_at_the_next_tick(controller):
    awaited = Future()
    state = controller.machine.instances["A"]
    state.run = lambda context: context.awaited.append(awaited)
    controller.step(seen(), 0.0)
    assert controller.awaited == [awaited]
    state.run = lambda context: None
    controller.step(seen(), 0.02)
    assert controller.awaited == []


def test_a_reset_clears_the_values_of_states_but_not_of_the_host(controller):
    mine, hosts = Key("mine", int), Key("host's", int)
    controller.store.set(mine, 1)
    controller.store.provide(hosts, 2)
    controller.reset()
    assert controller.store.names == ("host's",)


def test_every_state_is_configured_and_can_reject_the_robot():
    class Grasps(Hold):
        def configure(self, robot, store):
            if robot.gripper is None:
                raise UserInputError(f"{robot.name} has no gripper")

    classes = CLASSES | {"Grasps": Grasps}
    data = {"rate": 50, "initial": "A", "states": {"A": {"class": "Grasps", "outcome": "ok"}}}
    controller = FsmController(table_from_dict(data, classes, name="grasp", where="grasp"))
    with pytest.raises(UserInputError, match="arm has no gripper"):
        controller.configure(ROBOT)
    with pytest.raises(RuntimeError, match="configure"):
        controller.step(seen(), 0.0)
    controller.configure(replace(ROBOT, gripper=1))
    controller.step(seen(), 0.0)
    with pytest.raises(UserInputError):
        controller.configure(ROBOT)
    with pytest.raises(RuntimeError, match="configure"):
        controller.step(seen(), 0.1)  # its states would be configured for two robots


def test_states_are_configured_with_changed_settings():
    configured = []

    class Prepared(Scripted):
        def configure(self, robot, store):
            configured.append(self.config)

    data = yaml.safe_load(ONE.replace("Scripted", "Prepared"))
    classes = CLASSES | {"Prepared": Prepared}
    controller = FsmController(table_from_dict(data, classes, name="table", where="table"))
    controller.machine.configure("A", {"speed": 3.0})
    controller.configure(ROBOT)
    assert configured == [Scripted.Config(speed=3.0)]


def test_two_controllers_of_one_table_share_nothing():
    both = [FsmController(table(ONE)) for _ in range(2)]
    both[0].machine.configure("A", {"speed": 3.0})
    assert both[1].machine.configs["A"] == Scripted.Config()
    assert both[0].machine.instances["A"] is not both[1].machine.instances["A"]
