"""Several controllers hosted in one simulation: claims, order, start and stop at run time."""

import numpy as np
import pytest
from sample_states import controller, in_turn

from mujoco_ros.control.events import CommandSource
from mujoco_ros.controllers.runtime.controller_set import ControllerSet
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError

RAMP = in_turn("{class: Ramp, duration: 5.0, speed: 0.2}")
SECOND = in_turn("{class: Release}", rate=100.0)  # commands the joint b only


class Several:
    """Controllers beside the pendulums, stepped as the physics thread does."""

    def __init__(self, simulation, *, seen=None):
        self.simulation, self.controllers = simulation, ControllerSet()
        self.seen = [] if seen is None else seen

    def add(self, name, table, joints=(), *, is_active=True):
        host = ControllerHost(self.simulation, controller(table, seen=self.seen), joints=joints)
        self.controllers.add(name, host, is_active=is_active)
        return host

    def run(self, steps):
        for _ in range(steps):
            assert self.simulation.step()
            for host in self.controllers.hosts.values():
                host.after_step()

    def switch(self, activate=(), deactivate=(), *, strict=True):
        return self.controllers.switch(activate, deactivate, strict=strict)

    @property
    def active(self):
        return [name for name, host in self.controllers.hosts.items() if host.is_active]


@pytest.fixture
def several(pendulums):
    return Several(pendulums())


def test_two_controllers_of_a_robot_act_as_each_does_alone(pendulums, several):
    several.add("one", RAMP, ["a"])
    several.add("two", SECOND, ["b"])
    alone = {"a": Several(pendulums()), "b": Several(pendulums())}
    alone["a"].add("one", RAMP, ["a"])
    alone["b"].add("two", SECOND, ["b"])
    for _ in range(100):
        several.run(1)
        for joint, single in enumerate(alone.values()):
            single.simulation.data.qpos[:] = several.simulation.data.qpos
            single.simulation.data.qvel[:] = several.simulation.data.qvel
            single.run(1)
            together = several.simulation.references.values[:, joint]
            difference = together - single.simulation.references.values[:, joint]
            assert np.abs(difference).max() < 1e-12
    assert several.simulation.references.q[0] == pytest.approx(0.2 * 0.094, abs=1e-9)
    assert several.simulation.references.q[1] == pytest.approx(0.1)


def test_two_runs_of_several_controllers_are_bit_identical(pendulums):
    states = []
    for _ in range(2):
        several = Several(pendulums())
        several.add("one", RAMP, ["a"])
        several.add("two", SECOND, ["b"])
        several.run(300)
        several.switch(deactivate=["one"])
        several.run(100)
        states.append(
            (several.simulation.data.qpos.tobytes(), several.simulation.references.values.tobytes())
        )
    assert states[0] == states[1]


def test_references_outside_the_group_have_no_effect_and_are_warned_of_once(several, caplog):
    several.add("one", in_turn("{class: Ramp, speed: 1.0}"), ["b"])
    several.run(100)
    assert several.simulation.references.q[0] == 0.0
    assert several.simulation.controls[0].owners() == {CommandSource.UNCLAIMED: ("a", "b", "loose")}
    (line,) = caplog.messages
    assert line == (
        "a controller of joints b of robot 'pendulums' has references for a, which have no effect"
    )


def test_gains_are_set_and_restored_for_the_group_alone(several):
    soft = several.add("soft", in_turn("{class: Soft}"), ["a"])
    several.run(2)
    drives = several.simulation.drives
    assert drives.kp.tolist() == [25.0, 30.0, 0.0]
    drives.set_gains(np.array([25.0, 44.0, 0.0]), drives.kd.copy())
    soft.deactivate()
    assert drives.kp.tolist() == [50.0, 44.0, 0.0], "the gain of b was set by another client"


def test_two_active_controllers_of_one_joint_are_rejected_with_names(several):
    several.add("one", RAMP, ["a", "b"])
    with pytest.raises(
        UserInputError,
        match="controllers 'one' and 'two' both command joints of robot 'pendulums': b; "
        "deactivate one, or give each its own joints",
    ):
        several.add("two", RAMP, ["b", "loose"])
    several.add("two", RAMP, ["b", "loose"], is_active=False)
    with pytest.raises(UserInputError, match=r"'one' and 'two' both command .*: b;"):
        several.switch(["two"])
    assert several.active == ["one"]
    several.switch(["two"], ["one"])
    assert several.active == ["two"]


def test_an_unknown_joint_is_rejected_with_those_of_the_robot(several):
    with pytest.raises(
        UserInputError, match="robot 'pendulums': joint 'c' not found; there are: a, b, loose"
    ):
        several.add("one", RAMP, ["c"])


def test_a_stopped_controller_leaves_its_references_and_starts_at_its_initial_state(several):
    table = in_turn("{class: Wait, duration: 0.01}", "{class: Ramp, duration: 5.0}")
    host = several.add("one", table)
    several.run(103)
    references = several.simulation.references
    stood = references.q.copy()
    assert stood[0] > 0.05
    several.switch(deactivate=["one"])
    assert (host.supervised.state, host.supervised.available) == ("inactive", ())
    several.run(50)
    assert np.array_equal(references.q, stood)
    assert not references.values[1].any()
    assert CommandSource.CONTROLLER not in several.simulation.controls[0].owners()
    ticks = host.ticks
    several.switch(["one"])
    assert host.supervised.state == "S0"
    while host.ticks == ticks:
        begin = several.simulation.data.qpos[0]
        several.run(1)
    several.run(49)
    assert host.ticks == ticks + 10
    # It moves at 1 rad/s from the third tick on, from the position that was measured at the first.
    assert references.q[0] == pytest.approx(begin + 0.03, abs=0.006)
    events = [it.transition for it in host.supervised.log.since(0) if not it.transition.id]
    assert [(it.label, it.start, it.goal) for it in events] == [
        ("deactivate", "S1", "inactive"),
        ("activate", "inactive", "S0"),
    ]


def test_a_strict_switch_changes_everything_or_nothing(several):
    several.add("one", RAMP, ["a"])
    several.add("two", RAMP, ["b"])
    several.add("three", RAMP, ["a", "b"], is_active=False)
    for activate, deactivate, text in (
        (["four"], ["one"], "controller 'four' not found; there are: one, two, three"),
        (["three"], ["one"], "controllers 'two' and 'three' both command"),
        (["three"], ["one", "two", "three"], "controller 'three' is not active"),
        (["one"], ["two"], "controller 'one' is active already"),
    ):
        with pytest.raises(UserInputError, match=text):
            several.switch(activate, deactivate)
        assert several.active == ["one", "two"]
    assert several.switch(["three"], ["one", "two"]) == ()
    assert several.active == ["three"]
    several.run(10)
    assert several.switch(["three"], ["three"]) == (), "it starts again"
    assert several.active == ["three"]


def test_a_switch_of_best_effort_leaves_out_what_is_impossible(several):
    several.add("one", RAMP, ["a"])
    several.add("two", RAMP, ["b"])
    several.add("three", RAMP, ["a"], is_active=False)
    assert several.switch(["one"], ["three"], strict=False) == (), "as requested already"
    (problem,) = several.switch(["one", "four"], ["two"], strict=False)
    assert problem.startswith("controller 'four' not found")
    assert several.active == ["one"]
    with pytest.raises(UserInputError, match="'one' and 'three' both command"):
        several.switch(["three"], strict=False)
    assert several.active == ["one"]


def test_a_reset_restarts_active_controllers_alone(several):
    several.add("one", RAMP, ["a"])
    two = several.add("two", RAMP, ["b"], is_active=False)
    several.run(50)
    several.simulation.reset()
    assert several.active == ["one"]
    several.run(50)
    assert (two.ticks, two.supervised.state) == (0, "inactive")


def test_a_controller_with_an_error_is_started_again_or_stopped_by_a_switch(several):
    broken = in_turn("{class: Wait, duration: 0.01}", "{class: Break}")
    one = several.add("one", broken, ["a"])
    two = several.add("two", RAMP, ["b"])
    several.run(100)
    assert (one.supervised.state, two.supervised.error) == ("error", "")
    several.switch(["one"])
    assert one.supervised.state == "S0"
    several.run(100)
    assert one.supervised.state == "error"
    several.add("three", RAMP, ["a"], is_active=False)
    with pytest.raises(UserInputError, match=r"'one' \(stopped by an error\) and 'three' both"):
        several.switch(["three"])
    several.switch(["three"], ["one"])
    several.simulation.reset()
    assert (one.supervised.state, several.active) == ("inactive", ["two", "three"])


def test_an_inactive_controller_tolerates_another_timestep_until_it_starts(several):
    one = several.add("one", RAMP, is_active=False)
    several.simulation.set_timestep(0.003)
    several.run(10)
    with pytest.raises(UserInputError, match="period of 5 ms is not a multiple"):
        several.switch(["one"])
    assert one.supervised.state == "inactive"
    several.simulation.set_timestep(0.001)
    several.switch(["one"])
    several.run(10)
    assert one.ticks == 2
