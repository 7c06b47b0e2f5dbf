"""The manager switches controllers by what they claim, and updates them at their rates."""

import numpy as np
import pytest
from managed_robot import Managed

from mujoco_ros.control.events import CommandRejected, CommandSource
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.loaded_controller import Lifecycle
from mujoco_ros.ros2_control.parameters import ControllerParameters


def test_values_reach_the_named_joints_in_their_order():
    managed = Managed()
    forward = managed.forward("f", "ca")
    managed.start("f")
    forward.command(forward.check([0.7, 0.5]))
    managed.robot.step()
    np.testing.assert_array_equal(managed.references.q, [0.5, 0.2, 0.7])


def test_positions_are_clamped_to_the_present_limits_of_their_joints():
    managed = Managed()
    forward = managed.forward("f", "ab")
    managed.start("f")
    joints = managed.control.joints
    before = joints.upper.copy()
    try:
        joints.upper[0] = 0.4  # as when a range of the model is set
        forward.command(forward.check([0.7, 0.7]))
        managed.robot.step()
    finally:
        joints.upper[:] = before
    np.testing.assert_array_equal(managed.references.q[:2], [0.4, 0.7])


def test_an_interface_is_named_once():
    with pytest.raises(UserInputError, match="command interface 'a/position' is named twice"):
        Managed().forward("f", "aba")


def test_a_controller_writes_nothing_before_its_first_values():
    managed = Managed()
    managed.forward("f", "abc")
    managed.start("f")
    managed.robot.step()
    np.testing.assert_array_equal(managed.references.q, [0.1, 0.2, 0.3])


def test_values_from_before_an_activation_are_forgotten():
    managed = Managed()
    forward = managed.forward("f", "a")
    forward.command(forward.check([0.9]))
    managed.start("f")
    managed.robot.step()
    assert managed.references.q[0] == 0.1


def test_velocities_are_integrated_and_end_with_the_controller():
    managed = Managed()
    forward = managed.forward("f", "b", "velocity")
    managed.start("f")
    forward.command(forward.check([2.0]))
    steps, start = 50, managed.references.q[1]
    for _ in range(steps):
        managed.robot.step()
    moved = managed.references.q[1] - start
    assert moved == pytest.approx(2.0 * steps * managed.control.timestep, rel=0.05)
    managed.start(stop=["f"])
    before = managed.references.q[1]
    managed.robot.step()
    assert managed.references.dq[1] == 0.0
    assert managed.references.q[1] == before


def test_an_interface_has_one_active_controller():
    managed = Managed()
    managed.forward("one", "ab")
    managed.forward("other", "bc")
    managed.start("one")
    with pytest.raises(UserInputError, match=r"'other' cannot claim 'b/position'.*'one' has"):
        managed.start("other")
    assert managed.manager.find("other").state is Lifecycle.INACTIVE
    managed.start("other", stop=["one"])
    assert managed.manager.claimed() == {"b/position": "other", "c/position": "other"}


def test_what_is_impossible_is_left_out_unless_strict():
    managed = Managed()
    managed.forward("one", "ab")
    managed.forward("other", "c")
    managed.start("one")
    assert managed.start("one", "other", strict=False) == (
        "controller 'one' is active, not inactive",
    )
    assert managed.manager.find("other").state is Lifecycle.ACTIVE


def test_without_strictness_an_unknown_controller_alone_is_an_error():
    managed = Managed()
    managed.forward("one", "a")
    managed.start("one")
    with pytest.raises(UserInputError, match="'two' not found"):
        managed.start("two", strict=False)
    assert managed.start("one", strict=False) == ("controller 'one' is active, not inactive",)


def test_an_unknown_controller_changes_nothing():
    managed = Managed()
    managed.forward("one", "a")
    with pytest.raises(UserInputError, match=r"controller 'on' not found \(did you mean 'one'"):
        managed.start("one", "on")
    assert managed.manager.find("one").state is Lifecycle.INACTIVE


def test_other_sources_cannot_command_a_claimed_joint():
    managed = Managed()
    managed.forward("f", "a")
    managed.start("f")
    managed.robot.send(position={"a": 0.4, "b": 0.4})
    np.testing.assert_array_equal(managed.references.q, [0.1, 0.2, 0.3])
    (event,) = managed.robot.events_of(CommandRejected)
    assert event.source is CommandSource.JOINT_COMMANDS
    assert "joint 'a' is claimed by controller 'f'" in event.message
    managed.start(stop=["f"])
    managed.robot.send(position={"a": 0.4, "b": 0.4})
    managed.robot.step()
    np.testing.assert_array_equal(managed.references.q, [0.4, 0.4, 0.3])


def test_controllers_are_updated_at_their_rate_from_the_time_alone():
    managed = Managed(update_rate=100.0)
    doubling = managed.add("d", "test/Doubling")
    managed.start("d")
    for _ in range(round(0.05 / managed.control.timestep)):
        managed.robot.step()
    times = [time for time, _ in doubling.updates]
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1.1 * managed.control.timestep)
    assert len(times) in (5, 6)


def test_a_chained_controller_follows_in_the_same_update():
    managed = Managed()
    doubling = managed.add("d", "test/Doubling")
    forward = managed.add("f", joints=["d/a"], interface_name="velocity")
    with pytest.raises(UserInputError, match="'f' commands 'd', which is not active"):
        managed.start("f")
    managed.start("f", "d")
    assert doubling.is_chained
    assert managed.manager.chained_to(managed.manager.find("f")) == {"d": ["a/velocity"]}
    forward.command(forward.check([1.5]))
    managed.robot.step()
    assert managed.references.dq[0] == 3.0
    with pytest.raises(UserInputError, match="'d' is commanded by 'f'"):
        managed.start(stop=["d"])


def test_a_controller_that_fails_is_deactivated_and_the_others_continue():
    managed = Managed()
    doubling = managed.add("d", "test/Doubling")
    forward = managed.forward("f", "b")
    doubling.update = lambda time, period: 1 / 0
    managed.start("d", "f")
    forward.command(forward.check([0.5]))
    managed.robot.step()
    assert managed.manager.find("d").state is Lifecycle.INACTIVE
    assert managed.references.q[1] == 0.5


def test_a_controller_can_be_restarted_in_one_switch():
    managed = Managed()
    forward = managed.forward("f", "a")
    managed.start("f")
    forward.command(forward.check([0.9]))
    assert managed.start("f", stop=["f"]) == ()
    managed.robot.step()
    assert managed.references.q[0] == 0.1  # the value from before is forgotten
    assert managed.manager.find("f").state is Lifecycle.ACTIVE


def test_what_started_by_itself_gives_way_to_what_a_client_starts():
    managed = Managed()
    for name, joints in (("one", "ab"), ("other", "bc"), ("third", "c")):
        managed.forward(name, joints)
    managed.manager.switch(["one"], [], gives_way=True)
    managed.manager.switch(["third"], [], gives_way=True)
    with pytest.raises(UserInputError, match="cannot claim"):
        managed.manager.switch(["other"], [], gives_way=True)
    managed.start("other")
    states = {name: entry.state for name, entry in managed.manager.loaded.items()}
    assert states == {
        "one": Lifecycle.INACTIVE,
        "other": Lifecycle.ACTIVE,
        "third": Lifecycle.INACTIVE,
    }


def test_what_starts_by_itself_moves_no_joint_that_another_moves():
    managed = Managed()
    managed.forward("positions", "ab")
    managed.forward("efforts", "b", "effort")
    managed.manager.switch(["positions"], [], gives_way=True)
    with pytest.raises(UserInputError, match="'efforts' moves joint 'b', as another controller"):
        managed.manager.switch(["efforts"], [], gives_way=True)
    managed.start("efforts")
    assert _active(managed) == {"positions", "efforts"}


def test_a_client_can_activate_what_started_by_itself():
    managed = Managed()
    managed.forward("one", "a")
    managed.manager.switch(["one"], [], gives_way=True)
    assert managed.start("one") == ()
    with pytest.raises(UserInputError, match="'one' is active, not inactive"):
        managed.start("one")


def test_an_active_controller_cannot_be_unloaded():
    managed = Managed()
    managed.forward("f", "a")
    managed.start("f")
    with pytest.raises(UserInputError, match="'f' is active; deactivate it first"):
        managed.manager.unload("f")
    managed.start(stop=["f"])
    managed.manager.unload("f")
    assert not managed.manager.loaded


def test_a_missing_interface_is_named_with_those_that_exist():
    with pytest.raises(UserInputError, match=r"'z/position' not found.*a/position"):
        Managed().forward("f", "az")


@pytest.mark.parametrize("value", [np.inf, -1e12])
def test_a_controller_with_an_excessive_output_writes_nothing_and_is_deactivated(value, caplog):
    managed = Managed()
    doubling = managed.add("d", "test/Doubling")
    managed.start("d")
    doubling.references[:] = value
    managed.robot.step()
    assert not managed.references.dq.any()
    assert managed.manager.find("d").state is Lifecycle.INACTIVE
    assert "command of interface 'a/velocity' is" in caplog.text


def _chain(managed):
    """Load a controller of joint `a`, one that commands it, and one of the same joint."""
    managed.add("lower", "test/Doubling")
    managed.add("upper", joints=["lower/a"], interface_name="velocity")
    managed.forward("other", "a", "velocity")


def _active(managed):
    return {
        entry.name for entry in managed.manager.loaded.values() if entry.state is Lifecycle.ACTIVE
    }


def test_what_is_left_out_leaves_out_what_depends_on_it():
    managed = Managed()
    _chain(managed)
    managed.start("lower", "upper")
    left_out = managed.start("other", stop=["lower"], strict=False)
    assert _active(managed) == {"lower", "upper"}
    assert [text.partition(" which")[0] for text in left_out] == [
        "controller 'lower' is commanded by 'upper',",
        "controller 'other' cannot claim 'a/velocity',",
    ]


@pytest.mark.parametrize("names", [("upper", "lower"), ("lower", "upper")])
def test_a_chain_is_left_out_as_a_whole_in_any_order(names):
    managed = Managed()
    _chain(managed)
    managed.start("other")
    managed.start(*names, strict=False)
    assert _active(managed) == {"other"}


def test_a_chain_holds_after_its_lower_controller_was_configured_again():
    managed = Managed()
    _chain(managed)
    upper = managed.manager.find("upper").controller
    managed.manager.unload("lower")
    with pytest.raises(
        UserInputError, match="'upper' commands 'lower/a/velocity', which exists no"
    ):
        managed.start("upper")
    managed.add("lower", "test/Doubling")
    managed.start("lower", "upper")
    upper.command(upper.check([1.5]))
    managed.robot.step()
    assert managed.references.dq[0] == 3.0


def test_a_chain_gives_way_as_a_whole():
    managed = Managed()
    _chain(managed)
    managed.manager.switch(["upper", "lower"], [], gives_way=True)
    managed.start("other")
    assert _active(managed) == {"other"}


def test_a_controller_cannot_be_activated_while_it_is_configured():
    managed = Managed()
    managed.forward("f", "a")
    seen = []

    class Slow(managed.manager.find("f").kind):
        def __init__(self, *arguments):
            with pytest.raises(UserInputError, match="'f' is unconfigured, not inactive"):
                managed.start("f")
            seen.append(managed.manager.find("f").state)
            super().__init__(*arguments)

    managed.manager.find("f").kind = Slow
    parameters = ControllerParameters({"joints": ["b"], "interface_name": "position"}, "f")
    managed.manager.configure("f", parameters)
    assert seen == [Lifecycle.UNCONFIGURED]
    managed.start("f")
    assert managed.manager.claimed() == {"b/position": "f"}
