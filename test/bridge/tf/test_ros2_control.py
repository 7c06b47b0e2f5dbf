"""A robot controlled by the interfaces of its robot_description, as by a controller_manager."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hardware_blocks import Block, read_blocks
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState, StepSimulation
from simulators import Listener, Simulator, SimulatorLauncher
from std_msgs.msg import String
from topic_hardware import TopicHardware

from mujoco_ros.wire.qos import LATCHED

STATES = "simulation/joint_states"
ARM = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
FINGERS = ("left_finger_joint", "right_finger_joint")
CYCLE = 4
"""Physics steps between two cycles: a loop of 250 Hz in simulated time."""
RATE = {"publish_rate__joint_states": 250.0}

MOVE_S = 0.5

Controller = Callable[[float], None]


class Stack:
    """All hardware components of a robot, and the loop that steps its paused simulation.

    The simulator handles the commands of a cycle before the steps, which are requested after them.
    """

    def __init__(self, listener: Listener, blocks: list[Block], *, is_paused: bool = True) -> None:
        self._listener = listener
        self.hardware = [TopicHardware(listener.node, block) for block in blocks]
        assert listener.spin_until(lambda: all(h.is_connected for h in self._commanding))
        if is_paused:
            self.pause()

    def close(self) -> None:
        self._set_state(SimulationState.STATE_PLAYING)
        for hardware in self.hardware:
            hardware.close()

    def pause(self) -> None:
        self._set_state(SimulationState.STATE_PAUSED)

    def _set_state(self, state: int) -> None:
        request = SetSimulationState.Request(state=SimulationState(state=state))
        self._listener.call(SetSimulationState, "set_simulation_state", request)

    @property
    def _commanding(self) -> list[TopicHardware]:
        return [hardware for hardware in self.hardware if hardware.commands]

    def state(self, joint: str, interface: str = "position") -> float:
        (found,) = (h for h in self.hardware if joint in h.names)
        return found.states[joint, interface]

    def positions(self, joints: tuple[str, ...]) -> np.ndarray:
        return np.array([self.state(joint) for joint in joints])

    def command(self, joint: str, interface: str, value: float) -> None:
        (found,) = (h for h in self.hardware if joint in h.names)
        assert (joint, interface) in found.commands
        found.commands[joint, interface] = value

    def step(self) -> None:
        """Step the simulation to the next cycle, and read the states."""
        before = self.hardware[0].step
        request = StepSimulation.Request(steps=CYCLE)
        done = self._listener.call(StepSimulation, "step_simulation", request)
        assert done.result.result == Result.RESULT_OK, done.result.error_message
        assert self._listener.spin_until(lambda: all(h.step > before for h in self.hardware))
        for hardware in self.hardware:
            hardware.read()

    def run(self, seconds: float, controller: Controller = lambda _time: None) -> None:
        """Step, update and write for a simulated time; the controller gets the elapsed time."""
        for cycle in range(1, 1 + round(1000 * seconds / CYCLE)):
            self.step()
            controller(0.001 * CYCLE * cycle)
            for hardware in self.hardware:
                hardware.write()


def quintic(share: float) -> tuple[float, float]:
    """Return path coordinate and its derivative at a fraction of the time, at rest at both ends."""
    s = min(share, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2


class Mover:
    """Moves the arm from a position by a displacement in `MOVE_S`, like a trajectory controller."""

    def __init__(self, stack: Stack, begin: np.ndarray, way: np.ndarray, *, velocity: bool) -> None:
        self._stack, self._begin, self._way, self._velocity = stack, begin, way, velocity
        self.errors: list[np.ndarray] = []

    def __call__(self, time: float) -> None:
        gone, speed = quintic(time / MOVE_S)
        desired = self._begin + gone * self._way
        if 0.3 < time / MOVE_S < 0.7:
            self.errors.append(np.abs(desired - self._stack.positions(ARM)))
        for joint, position, rate in zip(ARM, desired, speed / MOVE_S * self._way, strict=True):
            self._stack.command(joint, "position", position)
            if self._velocity:
                self._stack.command(joint, "velocity", rate)


def description(listener: Listener, topic: str = "/robot_description") -> list[Block]:
    texts = listener.record(String, topic, qos=LATCHED)
    assert listener.spin_until(lambda: len(texts) > 0)
    return read_blocks(texts.latest.data)


@pytest.fixture(scope="module")
def arm(start_shared: SimulatorLauncher) -> Simulator:
    return start_shared.simulator(
        scene="arm",
        ros2_control="true",
        remaps=(f"joint_states:={STATES}",),
        **RATE,
    )


@pytest.fixture(scope="module")
def listener(start_shared: SimulatorLauncher, arm: Simulator) -> Listener:
    return start_shared.listener(arm)


@pytest.fixture(scope="module")
def blocks(listener: Listener) -> list[Block]:
    return description(listener)


@pytest.fixture
def stack(listener: Listener, blocks: list[Block]) -> Iterator[Stack]:
    stack = Stack(listener, blocks)
    yield stack
    stack.close()


def test_the_description_has_a_component_for_each_kind_of_joint(blocks):
    assert {block.name: [joint.name for joint in block.joints] for block in blocks} == {
        "position_velocity_effort_joints": list(ARM),
        "position_joints": ["left_finger_joint"],
        "passive_joints": ["right_finger_joint"],
    }
    for block in blocks:
        assert block.parameters["joint_commands_topic"] == "/joint_commands"
        assert block.parameters["joint_states_topic"] == f"/{STATES}"


def test_no_controller_of_the_simulator_shares_a_name_with_ros2_control(listener):
    def names() -> list[str]:
        """Return the names of all that the simulator offers, as far as discovered."""
        return [
            name
            for get in (
                listener.node.get_subscriber_names_and_types_by_node,
                listener.node.get_publisher_names_and_types_by_node,
                listener.node.get_service_names_and_types_by_node,
            )
            for name, _ in get("mujoco", "/")
        ]

    assert listener.spin_until(lambda: "mujoco" in listener.node.get_node_names())
    # The one is created before controllers would be, the other after them.
    assert listener.spin_until(lambda: {"/joint_commands", "/diagnostics"} <= set(names()))
    topics = names()
    assert "/joint_states" not in topics
    assert [name for name in topics if "_controller" in name] == []


def test_no_joint_moves_and_no_warning_is_logged_before_a_controller_is_active(arm, stack):
    stack.step()
    before = stack.positions(ARM + FINGERS)
    stack.run(0.3)
    moved, gripper, passive = stack.hardware
    assert len(moved.sent) == 75
    assert len(gripper.sent) == len(moved.sent)
    for message in moved.sent:
        assert message.name == list(ARM)
        for values in (message.position, message.velocity, message.effort):
            assert len(values) == len(ARM)
            assert all(math.isnan(value) for value in values)
    assert passive.sent == []
    stack.step()
    # Not yet at rest, perhaps: gravity draws the joints from their keyframe by 1.4 mrad.
    np.testing.assert_allclose(stack.positions(ARM + FINGERS), before, atol=3e-3)
    assert arm.warnings() == []


def test_a_trajectory_is_followed_and_its_last_point_is_held(arm, stack):
    stack.step()
    begin = stack.positions(ARM)
    way = np.array([0.25, -0.1, 0.15, 0.2, -0.15, 0.25])
    mover = Mover(stack, begin, way, velocity=True)
    stack.run(0.8, mover)
    # The deflection of the joints under gravity, and the quintic's lag of two cycles.
    np.testing.assert_allclose(stack.positions(ARM), begin + way, atol=5e-3)
    assert np.max(np.median(mover.errors, axis=0)) < 0.02
    stack.run(0.2)
    np.testing.assert_allclose(stack.positions(ARM), begin + way, atol=5e-3)
    assert arm.warnings() == []
    back = Mover(stack, begin + way, -way, velocity=True)
    stack.run(0.8, back)
    np.testing.assert_allclose(stack.positions(ARM), begin, atol=5e-3)


def test_velocity_commands_remove_the_lag_of_the_damping(stack):
    stack.step()
    begin = stack.positions(ARM)
    way = np.array([0.25, 0.0, 0.0, 0.0, 0.0, 0.0])
    trailing = Mover(stack, begin, way, velocity=False)
    stack.run(0.8, trailing)
    following = Mover(stack, begin + way, -way, velocity=True)
    stack.run(0.5, following)
    lag, rest = (float(np.median(mover.errors, axis=0)[0]) for mover in (trailing, following))
    # kd/kp of the joint is 40 ms, and it turns at 0.9 rad/s there. Both moves lag by a cycle.
    assert lag > 0.02
    assert rest < lag - 0.01


def test_the_gripper_has_its_own_component_and_the_other_finger_follows(arm, stack):
    stack.step()
    assert stack.positions(FINGERS) == pytest.approx([0.03, 0.03], abs=1e-3)
    stack.command("left_finger_joint", "position", 0.01)
    stack.run(0.3)
    assert stack.positions(FINGERS) == pytest.approx([0.01, 0.01], abs=1e-3)
    stack.command("left_finger_joint", "position", 0.03)
    stack.run(0.3)
    assert stack.positions(FINGERS) == pytest.approx([0.03, 0.03], abs=1e-3)
    assert arm.warnings() == []


def test_an_effort_command_is_added_and_removed(stack):
    stack.step()
    joint, torque = "shoulder_pan_joint", 50.0
    rest = stack.state(joint)
    stack.command(joint, "effort", torque)
    stack.run(0.25)
    # The deflection of the PD law is torque / kp.
    assert stack.state(joint) - rest == pytest.approx(torque / 10000.0, rel=0.1)
    stack.command(joint, "effort", 0.0)
    stack.run(0.25)
    assert stack.state(joint) == pytest.approx(rest, abs=5e-4)


def test_a_controller_that_holds_its_position_does_not_time_out(start):
    simulator = start.simulator(scene="arm", ros2_control="true", command_timeout=0.1, **RATE)
    listener = start.listener(simulator)
    stack = Stack(listener, description(listener))
    stack.step()
    stack.command("left_finger_joint", "position", stack.state("left_finger_joint"))
    stack.run(0.3)
    assert simulator.warnings() == []
    _, gripper, _ = stack.hardware
    gripper.threshold = 1e-3
    stack.run(0.3)
    simulator.wait_for_log("so command_timeout makes it")
    assert "left_finger_joint" in "".join(simulator.warnings())


def test_each_robot_of_a_scene_has_its_own_command_topics(start):
    robots = ("humanoid", "quadruped", "left_arm", "right_arm")
    simulator = start.simulator(
        scene="zoo",
        ros2_control="true",
        remaps=tuple(f"{robot}/joint_states:={robot}/{STATES}" for robot in robots),
        **RATE,
    )
    listener = start.listener(simulator)
    for robot in robots:
        for block in description(listener, f"/{robot}/robot_description"):
            assert block.parameters["joint_commands_topic"] == f"/{robot}/joint_commands"
            assert block.parameters["joint_states_topic"] == f"/{robot}/{STATES}"
    left, right = (
        Stack(listener, description(listener, f"/{robot}/robot_description"), is_paused=False)
        for robot in robots[2:]
    )
    left.pause()
    left.step()
    right.step()
    before, other = left.state("wrist_3_joint"), right.state("wrist_3_joint")
    left.command("wrist_3_joint", "position", before + 0.1)
    left.run(0.2)
    right.step()
    assert left.state("wrist_3_joint") == pytest.approx(before + 0.1, abs=0.005)
    assert right.state("wrist_3_joint") == pytest.approx(other, abs=1e-3)


def test_a_namespace_of_the_node_is_part_of_the_topics_in_the_description(start):
    simulator = start.simulator(
        scene="quadruped", ros2_control="true", remaps=("__ns:=/left_half",)
    )
    (block,) = description(start.listener(simulator), "/left_half/robot_description")
    assert block.parameters["joint_commands_topic"] == "/left_half/joint_commands"
    assert block.parameters["joint_states_topic"] == "/left_half/joint_states"
    assert len(block.joints) == 12


def test_without_the_parameter_the_description_leaves_the_joints_to_the_simulator(start):
    listener = start.listener(start.simulator(scene="quadruped"))
    with pytest.raises(ValueError, match="no 'ros2_control' tag"):
        description(listener)
