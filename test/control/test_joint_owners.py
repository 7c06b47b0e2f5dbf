"""Rates and ages of command sources."""

import numpy as np

from mujoco_ros.control.events import CommandSource, Event
from mujoco_ros.control.joint_owners import CommandRates, CommandTally, JointOwners


def owners(joints: JointOwners) -> dict[CommandSource, list[int]]:
    return {source: owned.tolist() for source, owned in joints.by_source()}


class Source:
    """A command source that notes what it loses."""

    def __init__(self) -> None:
        self.lost: list[tuple[list[int], str]] = []

    def is_idle(self, _joints: np.ndarray, _time: float) -> bool:
        return True

    def release(self, joints: np.ndarray, reason: str) -> None:
        self.lost.append((joints.tolist(), reason))

    def save_state(self) -> None:
        """Have no state."""

    restore_state = release


class Joints(JointOwners):
    """Joints a, b, c … with sources of positions and of gripper commands."""

    def __init__(self, count: int) -> None:
        self.events: list[Event] = []
        self.positions, self.gripper = Source(), Source()
        sources = {CommandSource.POSITION: self.positions, CommandSource.GRIPPER: self.gripper}
        super().__init__("abcd"[:count], sources, self.events.append)

    def take(self, source: CommandSource, *joints: int, controller: str = "") -> list[int] | None:
        claimed = self.claim(source, np.array(joints), 0.0, controller)
        return None if claimed is None else claimed.tolist()


def test_all_joints_are_unclaimed_at_first():
    joints = Joints(2)
    assert owners(joints) == {CommandSource.UNCLAIMED: [0, 1]}
    assert joints.unclaimed.tolist() == [True, True]


def test_a_claim_preempts_the_previous_owners():
    joints = Joints(4)
    joints.take(CommandSource.POSITION, 3, 0)
    assert joints.take(CommandSource.TRAJECTORY, 3, 1, 0) == [3, 1, 0]
    assert joints.positions.lost == [
        ([3, 0], f"preempted by {CommandSource.TRAJECTORY} on joint 'd'")
    ]
    (event,) = joints.events
    assert (event.source, event.joints) == (CommandSource.POSITION, ("d", "a"))
    assert owners(joints) == {CommandSource.UNCLAIMED: [2], CommandSource.TRAJECTORY: [0, 1, 3]}


def test_a_claim_of_own_joints_preempts_no_source():
    joints = Joints(2)
    joints.take(CommandSource.POSITION, 0, 1)
    assert joints.take(CommandSource.POSITION, 1) == []
    assert joints.positions.lost == []


def test_joints_of_a_controller_can_only_be_claimed_by_controllers():
    joints = Joints(2)
    joints.take(CommandSource.MANAGED, 1, controller="arm")
    assert joints.take(CommandSource.POSITION, 0, 1) is None
    assert owners(joints) == {CommandSource.UNCLAIMED: [0], CommandSource.MANAGED: [1]}
    (event,) = joints.events
    assert event.message == "joint 'b' is claimed by controller 'arm'; deactivate that first"


def test_a_gripper_loses_its_joints_to_its_actuators():
    joints = Joints(2)
    joints.take(CommandSource.GRIPPER, 1)
    joints.lose(np.array([1]), CommandSource.GRIPPER, 0.0, "tendon")
    assert joints.gripper.lost == [([1], f"preempted by {CommandSource.ACTUATORS}")]
    assert joints.events[0].joints == ("tendon",)
    assert joints.unclaimed.all()


def test_released_joints_are_unclaimed_and_controllers_keep_theirs():
    joints = Joints(3)
    joints.take(CommandSource.EFFORT, 0, 1)
    joints.take(CommandSource.MANAGED, 2)
    joints.release(np.array([1]))
    assert joints.unclaimed.tolist() == [False, True, False]
    joints.clear()
    assert joints.unclaimed.tolist() == [True, True, False]


def test_owners_are_restored_but_for_the_controllers_of_now():
    joints = Joints(3)
    joints.take(CommandSource.GRIPPER, 1)
    joints.take(CommandSource.MANAGED, 0)
    saved = joints.save_state()
    joints.release(np.arange(3))
    joints.take(CommandSource.MANAGED, 2)
    joints.restore_state(saved)
    assert owners(joints) == {
        CommandSource.UNCLAIMED: [0],
        CommandSource.GRIPPER: [1],
        CommandSource.MANAGED: [2],
    }


def test_each_source_has_its_rate_over_the_time_of_the_report_and_the_age_of_its_newest_command():
    rates = CommandRates()
    for step in range(10):
        rates.add("fast", 0.1 * step)
    rates.add("slow", 0.25)
    assert rates.report(1.0, 2.0) == (
        CommandTally("fast", 5.0, 1.0 - 0.1 * 9),
        CommandTally("slow", 0.5, 0.75),
    )


def test_a_silent_source_is_reported_with_a_rate_of_zero_and_a_growing_age():
    rates = CommandRates()
    rates.add("once", 1.0)
    rates.report(2.0, 1.0)
    assert rates.report(3.0, 1.0) == (CommandTally("once", 0.0, 2.0),)


def test_a_report_over_no_time_has_no_rates():
    rates = CommandRates()
    rates.add("paused", 1.0)
    assert rates.report(1.0, 0.0) == (CommandTally("paused", 0.0, 0.0),)


def test_a_command_that_takes_effect_with_the_next_step_is_no_older_than_new():
    rates = CommandRates()
    rates.add("next", 1.001)
    assert rates.report(1.0, 1.0)[0].age == 0.0


def test_after_a_reset_there_are_no_sources():
    rates = CommandRates()
    rates.add("before", 1.0)
    rates.clear()
    assert rates.report(2.0, 1.0) == ()
