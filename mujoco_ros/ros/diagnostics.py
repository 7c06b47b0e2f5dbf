"""Honest figures about time and the engine's health, on /diagnostics."""

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.ros.outbox import stamp
from mujoco_ros.sim.commands import QueueFullError
from mujoco_ros.sim.loop import PhysicsThread, Status
from mujoco_ros.sim.simulation import Simulation

_PERIOD_S = 1.0
_LOOK_S = 0.1
_ANSWER_S = 0.5


class Diagnostics:
    """Publishes /diagnostics once a second, and at once when something goes wrong or is paused.

    Engine messages go to the log as they come. Runs in the executor's thread.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        physics: PhysicsThread,
        lost: Callable[[], dict[str, int]],
        refusals: Mapping[str, int],
    ) -> None:
        """Start the timer.

        Args:
            node: The node.
            simulation: What is reported on.
            physics: The thread that steps it.
            lost: Returns how many messages the middleware refused, by topic.
            refusals: What went wrong with commands, and how often.
        """
        self._lost = lost
        self._refusals = refusals
        self._troubles = 0
        # MuJoCo's names may have a prefix where ROS has none.
        self._joints = {
            robot.prefix + name: f"{robot.namespace}/{name}" if robot.namespace else name
            for robot in simulation.layout.robots
            for name in robot.joints.names
        }
        self._node = node
        self._simulation = simulation
        self._physics = physics
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._seen = self._state()
        self._looks = 0
        self._dropped = 0.0
        # Not the node's clock: under use_sim_time it would stop when there is most to tell.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(_LOOK_S, self._look, clock=steady)

    def _state(self) -> tuple[int, bool]:
        return self._simulation.divergences, self._simulation.paused

    def _look(self) -> None:
        self._log_engine_messages()
        self._looks += 1
        if self._state() == self._seen and self._looks < _PERIOD_S / _LOOK_S:
            return
        self._looks = 0
        try:
            future = self._simulation.commands.submit(self._physics.status)
        except QueueFullError:
            return  # the physics thread has ended, and the node is about to
        try:
            self._publish(future.result(_ANSWER_S))
        except CancelledError:
            return
        except FutureTimeoutError:
            future.cancel()
            self._node.get_logger().error(f"the physics thread did not answer for {_ANSWER_S} s")

    def finish(self) -> None:
        """Tell what there is left to tell after the physics thread has ended."""
        self._log_engine_messages()
        if self._state() != self._seen:
            self._publish(self._physics.status())

    def _log_engine_messages(self) -> None:
        messages = self._simulation.engine_messages
        while messages:
            self._node.get_logger().warning(f"MuJoCo: {messages.popleft()}")

    def _publish(self, status: Status) -> None:
        diverged = status.divergences != self._seen[0]
        self._seen = (status.divergences, status.paused)
        if diverged:
            action = self._simulation.on_divergence
            self._node.get_logger().error(
                f"the simulation diverged before {status.sim_time:.3f} s; on_divergence: {action}"
            )
        message = DiagnosticArray(
            status=[
                self._real_time(status),
                self._engine(status, diverged=diverged),
                self._control(status),
                self._middleware(),
            ]
        )
        message.header.stamp = stamp(status.sim_time)
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._publisher.publish(message)

    def _real_time(self, status: Status) -> DiagnosticStatus:
        dropped, self._dropped = status.dropped - self._dropped, status.dropped
        level, text = DiagnosticStatus.OK, "keeps time"
        if status.paused:
            text = "paused"
        elif status.factor and dropped > 0:
            level = DiagnosticStatus.WARN
            text = f"too slow: {1e3 * dropped:.1f} ms dropped since the last report"
        elif not status.factor:
            text = "as fast as possible"
        return self._status(
            "real time",
            level,
            text,
            {
                "simulated time [s]": f"{status.sim_time:.3f}",
                "real-time factor asked": f"{status.factor:g}",
                "real-time factor achieved": f"{status.achieved_factor:.4f}",
                "lag [ms]": f"{1e3 * status.lag:.3f}",
                "time dropped in total [s]": f"{status.dropped:.6f}",
                "deadline misses in total": str(status.late_steps),
                "steps": str(status.steps),
                **_percentiles("step period", status.period),
                **_percentiles("step cost", status.step_cost),
            },
        )

    def _engine(self, status: Status, *, diverged: bool) -> DiagnosticStatus:
        level, text = DiagnosticStatus.OK, "healthy"
        if diverged or (status.divergences and status.paused):
            level, text = DiagnosticStatus.ERROR, "diverged"
        elif status.warnings:
            level, text = DiagnosticStatus.WARN, f"warnings: {', '.join(status.warnings)}"
        return self._status(
            "engine",
            level,
            text,
            {
                "divergences": str(status.divergences),
                "contacts": str(status.contacts),
                "constraints": str(status.constraints),
                **{f"warning {name}": str(count) for name, count in status.warnings.items()},
            },
        )

    def _control(self, status: Status) -> DiagnosticStatus:
        saturated, refusals = status.saturated, dict(self._refusals)
        before, self._troubles = self._troubles, sum(saturated.values()) + sum(refusals.values())
        level, text = DiagnosticStatus.OK, "as commanded"
        if self._troubles > before:
            level, text = DiagnosticStatus.WARN, "not all as commanded since the last report"
        several = len(status.holders) > 1
        held = {
            f"{robot}: held by {source}" if several else f"held by {source}": ", ".join(joints)
            for robot, holders in status.holders.items()
            for source, joints in holders.items()
        }
        return self._status(
            "control",
            level,
            text,
            {
                **held,
                **{
                    f"steps at the torque limit: {self._joints[name]}": str(count)
                    for name, count in saturated.items()
                },
                **{kind: str(count) for kind, count in refusals.items()},
            },
        )

    def _middleware(self) -> DiagnosticStatus:
        lost = self._lost()
        level, text = DiagnosticStatus.OK, "takes every message"
        if lost:
            level, text = DiagnosticStatus.WARN, "did not take every message"
        return self._status(
            "middleware",
            level,
            text,
            {f"messages lost on {topic}": str(count) for topic, count in lost.items()},
        )

    def _status(
        self, name: str, level: bytes, text: str, values: dict[str, str]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            name=f"{self._node.get_name()}: {name}",
            hardware_id="MuJoCo",
            level=level,
            message=text,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )


def _percentiles(name: str, seconds: tuple[float, ...]) -> dict[str, str]:
    return {
        f"{name} p{percent} [us]": f"{1e6 * value:.0f}"
        for percent, value in zip(("50", "99", "99.9"), seconds, strict=True)
    }
