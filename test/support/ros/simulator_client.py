"""A client that plays, pauses, steps and resets a simulator process."""

from typing import Any

from command_clients import seconds
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, SimulationState
from simulators import Listener, Recording, Simulator, SimulatorLauncher
from std_msgs.msg import Header

from mujoco_ros.model.naming import in_namespace
from mujoco_ros.wire.names import service_name

STOPPED, PLAYING, PAUSED = (
    SimulationState.STATE_STOPPED,
    SimulationState.STATE_PLAYING,
    SimulationState.STATE_PAUSED,
)
FEEDBACK = "/mujoco/simulate_steps/_action/feedback"


class SimulatorClient:
    """A client of a simulator.

    Attributes:
        simulator: The simulator.
        listener: Its node is the client.
        clock: Recording of /clock.
        joint_states: Recording of joint_states.
        resets: Recording of ~/reset_event.
    """

    def __init__(self, start: SimulatorLauncher, *, robot: str = "", **parameters: Any) -> None:
        """Start one; `robot` is the namespace whose joint_states are recorded."""
        self.simulator: Simulator = start.simulator(**({"scene": "arm"} | parameters))
        self.listener: Listener = start.listener(self.simulator)
        self._clients: dict[str, Any] = {}
        self._steps: ActionClient | None = None
        self._feedback: Recording
        self.clock: Recording = self.listener.record(Clock, "/clock", reliable=True)
        self.joint_states: Recording = self.listener.record(
            JointState, in_namespace(robot, "joint_states"), reliable=True
        )
        self.resets: Recording = self.listener.record(Header, "/mujoco/reset_event", reliable=True)
        self.simulator.wait_until_running()
        assert self.listener.spin_until(lambda: len(self.joint_states) > 0)
        assert self.listener.spin_until(
            lambda: self.listener.node.count_publishers("/mujoco/reset_event") > 0
        )

    def client(self, interface: str) -> Any:
        """Return the client of a service, once the service is available."""
        if interface not in self._clients:
            # With the usual depth of 10, a burst of responses loses the first ones.
            client = self.listener.node.create_client(
                getattr(srv, interface),
                "/mujoco/" + service_name(interface),
                qos_profile=QoSProfile(depth=1000),
            )
            assert self.listener.spin_until(client.service_is_ready)
            self._clients[interface] = client
        return self._clients[interface]

    def request(self, interface: str, **fields: Any) -> Any:
        """Call a service; return the future of its response."""
        return self.client(interface).call_async(getattr(srv, interface).Request(**fields))

    def call(self, interface: str, **fields: Any) -> Any:
        """Call a service and return its response."""
        return self.listener.result(self.request(interface, **fields))

    @property
    def state(self) -> int:
        response = self.call("GetSimulationState")
        assert response.result.result == Result.RESULT_OK
        return int(response.state.state)

    def set_state(self, state: int) -> Result:
        return self.call("SetSimulationState", state=SimulationState(state=state)).result

    def ensure_state(self, state: int) -> None:
        """Set the state unless it is the current one."""
        if self.state != state:
            assert self.set_state(state).result == Result.RESULT_OK

    def step(self, steps: int = 1) -> Result:
        return self.call("StepSimulation", steps=steps).result

    def simulate_steps(self, steps: int) -> Any:
        """Send a goal; return its handle."""
        if self._steps is None:
            self._steps = ActionClient(self.listener.node, SimulateSteps, "/mujoco/simulate_steps")
            assert self.listener.spin_until(self._steps.server_is_ready)
            # A separate subscription: rclpy's client drops feedback when the goal ends.
            self._feedback = self.listener.record(
                SimulateSteps.Impl.FeedbackMessage,
                FEEDBACK,
                reliable=True,
            )
            assert self.listener.spin_until(
                lambda: self.listener.node.count_publishers(FEEDBACK) > 0
            )
            self.listener.spin_for(1.5)  # no event reports that the server has discovered us
        return self.listener.result(self._steps.send_goal_async(SimulateSteps.Goal(steps=steps)))

    def feedback(self, handle: Any) -> list[tuple[int, int]]:
        """Return completed and remaining steps of each feedback of a goal."""
        return [
            (message.feedback.completed_steps, message.feedback.remaining_steps)
            for message in self._feedback.messages
            if message.goal_id == handle.goal_id
        ]

    def close(self) -> None:
        """Destroy the action client, which nodes do not do."""
        if self._steps is not None:
            self._steps.destroy()

    def time(self) -> float:
        """Return the last simulated time of /clock."""
        return seconds(self.clock.latest.clock)

    def settle(self) -> None:
        """Wait until all messages in flight from a paused simulation have arrived.

        They are sent before the response to a request.
        """
        recordings = (self.clock, self.joint_states, self.resets)
        before: list[int] = []
        while before != (now := [len(recording) for recording in recordings]):
            before = now
            self.call("GetSimulationState")
            self.listener.spin_for(0.05)

    def settle_and_clear(self) -> None:
        """Settle, and clear the recordings."""
        self.settle()
        self.clear_recordings()

    def clear_recordings(self) -> None:
        """Clear the recordings."""
        for recording in (self.clock, self.joint_states, self.resets):
            recording.raw.clear()
