"""Perturbations of a running simulator over the middleware."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.qos import QoSProfile
from simulation_interfaces.srv import ResetSimulation
from simulators import Listener, Simulator, SimulatorLauncher
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.wire.names import PULL

_SCENE = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
  <worldbody>
    <body name="arm"><joint name="hinge" damping="1"/><geom size="0.1" mass="1"/></body>
    <body name="puck" pos="0 3 0"><freejoint/><geom name="skin" size="0.1" mass="2"/></body>
    <body name="hand" mocap="true" pos="0 -3 0"/>
  </worldbody>
  <equality><weld name="anchor" body1="arm" active="false"/></equality>
</mujoco>
"""


class Live:
    """A simulator, and the received poses of its bodies."""

    def __init__(self, simulator: Simulator, listener: Listener) -> None:
        self.simulator, self.listener = simulator, listener
        self._tf = listener.record(TFMessage, "/tf", reliable=True)
        self._diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)

    def position(self, frame: str) -> tuple[float, float, float] | None:
        if not self._tf.raw:
            return None
        for transform in self._tf.latest.transforms:
            if transform.child_frame_id == frame:
                at = transform.transform.translation
                return at.x, at.y, at.z
        return None

    def perturbation_status(self) -> str:
        """Return the newest diagnostics about perturbation."""
        if not self._diagnostics.raw:
            return ""
        status = self._diagnostics.latest.status
        return next((s.message for s in status if s.name.endswith("perturbation")), "")

    def publisher(self, kind: Any, topic: str) -> Any:
        # Deep enough that no message of a burst is lost before it is sent.
        publisher = self.listener.node.create_publisher(kind, topic, QoSProfile(depth=2000))
        assert self.listener.spin_until(lambda: publisher.get_subscription_count() == 1)
        return publisher

    def wait(self, condition: Any) -> None:
        assert self.listener.spin_until(condition), self.simulator.log


@pytest.fixture(scope="module")
def live(
    start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    path: Path = tmp_path_factory.mktemp("acting") / "table.xml"
    path.write_text(_SCENE)
    simulator = start_shared.simulator(scene=path)
    simulator.wait_until_running()
    yield Live(simulator, start_shared.listener(simulator))
    assert simulator.stop() == 0


def test_a_wrench_moves_a_body_until_it_is_set_to_zero(live: Live) -> None:
    push = WrenchStamped()
    push.header.frame_id = "puck"
    push.wrench.force.x = 4.0
    pusher = live.publisher(WrenchStamped, "external_wrench")
    live.wait(lambda: live.position("puck") is not None)
    pusher.publish(push)
    live.wait(lambda: live.position("puck")[0] > 0.5)  # type: ignore[index]
    live.wait(lambda: live.perturbation_status() == "wrenches act at puck")
    push.wrench.force.x = 0.0
    pusher.publish(push)
    live.wait(lambda: live.perturbation_status() == "no external wrench acts")


def test_a_pulled_body_arrives_and_is_released_without_further_messages(live: Live) -> None:
    goal = (1.0, 4.0, 0.5)
    pull = InteractiveMarkerFeedback(marker_name="puck")
    pull.pose.position.x, pull.pose.position.y, pull.pose.position.z = goal
    puller = live.publisher(InteractiveMarkerFeedback, PULL)

    def arrives_while_it_is_pulled() -> bool:
        puller.publish(pull)
        is_there = live.position("puck") == pytest.approx(goal, abs=0.01)
        return is_there and live.perturbation_status() == "pulls act at puck"

    live.wait(arrives_while_it_is_pulled)
    live.wait(lambda: live.perturbation_status() == "no external wrench acts")


def test_a_burst_of_a_thousand_poses_ends_at_the_last_one(live: Live) -> None:
    mover = live.publisher(PoseStamped, "mocap/hand/pose")
    pose = PoseStamped()
    pose.header.frame_id = "world"
    for i in range(1000):
        pose.pose.position.x = 0.001 * (i + 1)
        mover.publish(pose)
    live.wait(lambda: live.position("hand") == pytest.approx((1.0, 0.0, 0.0), abs=1e-12))
    assert live.simulator.warnings() == []


def test_parameters_take_effect_and_are_read_back(live: Live) -> None:
    values = {
        "equality.anchor": True,
        "physics.gravity": [0.0, 0.0, -1.0],
        "physics.timestep": 0.002,
        "physics.integrator": "RK4",
        "geom.skin.rgba": [1.0, 0.0, 0.0, 1.0],
        "geom.skin.size": [0.25],
    }
    (result,) = live.listener.set_parameters(values, atomic=True)
    assert result.successful, result.reason
    for name, value in values.items():
        assert live.listener.get_parameter(name) == value
    height = live.position("puck")[2]  # type: ignore[index]
    live.wait(lambda: live.position("puck")[2] < height - 0.1)  # type: ignore[index]


def test_a_reset_restores_some_numbers_and_draws_others(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    """The scene has random numbers, whose parameters follow."""
    (tmp_path / "table.xml").write_text(_SCENE)
    (tmp_path / "table.yaml").write_text(
        "robots: [{name: table, model: table.xml}]\n"
        "randomize: {geom.*.friction: {scale: [0.5, 0.9]}}\n"
    )
    simulator = start.simulator(
        scene=tmp_path / "table.yaml", body__puck__mass=3.0, reset_restores_numbers=True
    )
    listener, friction = start.listener(simulator), "geom.skin.friction"

    def reset() -> None:
        scope = ResetSimulation.Request.SCOPE_STATE
        request = ResetSimulation.Request(scope=scope)
        result = listener.call(ResetSimulation, "reset_simulation", request).result
        assert result.result == result.RESULT_OK

    values = {"body.puck.mass": 5.0, friction: [0.1, 0.1, 0.1]}
    assert all(result.successful for result in listener.set_parameters(values))
    drawn = [0.1]
    for _ in range(2):
        reset()
        assert listener.spin_until(lambda: listener.get_parameter(friction)[0] != drawn[-1])
        drawn.append(listener.get_parameter(friction)[0])
        assert listener.get_parameter("body.puck.mass") == 3.0
    assert all(0.5 <= value <= 0.9 for value in drawn[1:])
    assert simulator.stop() == 0


def test_a_value_with_which_the_simulation_diverges_is_named(live: Live) -> None:
    values = {"joint.hinge.stiffness": 1e9, "joint.hinge.springref": 1.0}
    (result,) = live.listener.set_parameters(values, atomic=True)
    assert result.successful, result.reason
    live.simulator.wait_for_log(
        "the last change of parameters was joint.hinge.stiffness = 1000000000"
    )
    assert live.listener.set_parameters({"joint.hinge.stiffness": 0.0})[0].successful


def test_a_refusal_has_its_reason(live: Live) -> None:
    refused = live.listener.set_parameters(
        {
            "physics.gravity": [0.0],
            "physics.solver": "best",
            "geom.skn.rgba": [1.0, 1.0, 1.0, 1.0],
            "equality.anchor": 3,
        }
    )
    for result, why in zip(
        refused,
        (
            "it is a list of 3 numbers",
            "it is one of PGS, CG, Newton",
            "did you mean 'geom.skin.rgba'?",
            "it is true or false",
        ),
        strict=True,
    ):
        assert not result.successful
        assert why in result.reason
