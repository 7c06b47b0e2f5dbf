"""Topics that apply forces and torques to bodies."""

import math
from collections.abc import Iterable
from functools import partial

from geometry_msgs.msg import Vector3, WrenchStamped
from rclpy.subscription import Subscription

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.synchronize import synchronize
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.body_frames import BodyFrame, can_move, named_frames
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.wrenches import AppliedWrench
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.names import EXTERNAL_WRENCH
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE

_LARGEST = 1e9
"""Far below 1e10, the acceleration at which the engine diverges."""


class WrenchServer(Component):
    """Applies wrenches from ``external_wrench`` of the scene and of every robot."""

    name = "perturbation"
    parameters = (
        ParameterSpec(
            "external_wrench_timeout",
            0.0,
            "Simulated time for which a message on external_wrench acts [s]; 0 is until the next "
            "one for its frame",
            low=0.0,
            high=3600.0,
        ),
        ParameterSpec(
            "external_wrench_axes",
            "frame",
            "Axes of the messages on external_wrench: those of the frame they name, or of the "
            "world; they act at the origin of the frame either way",
            choices=("frame", "world"),
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        """Open the topics."""
        self._endpoints, self._values = context.endpoints, context.values
        self._simulation, self._submit = context.simulation, context.submit
        self._rejections = context.rejections
        self._open: dict[str, Subscription] = {}
        self.build(context.simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the frames of the next model."""
        self._next = plant.model, plant.layout, named_frames(plant.model, plant.layout)

    def finish(self) -> None:
        """Open the topics of new robots; close those of deleted robots."""
        self._model, self._layout, self._frames = self._next
        namespaces = dict.fromkeys(["", *(robot.namespace for robot in self._layout.robots)])
        synchronize(self._open, namespaces, self._subscribe, self._endpoints.close)

    def find_frame(self, namespace: str, name: str) -> BodyFrame:
        """Return a frame by name; topics of a robot also accept names without its prefix.

        Raises:
            UserInputError: There is no such frame, or no joint moves it.
        """
        own = (robot for robot in self._layout.robots if robot.namespace == namespace)
        names = [*(robot.frame_prefix + name for robot in own), name]
        frame = next((self._frames[it] for it in names if it in self._frames), None)
        if frame is None:
            movable = [n for n, f in self._frames.items() if can_move(self._model, f.body)]
            raise unknown("frame", name, movable)
        if not can_move(self._model, frame.body):
            raise UserInputError(f"frame '{name}' cannot move: no joint is above it")
        return frame

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics: the wrenches and pulls that act."""
        external = self._simulation.wrenches
        wrenches, pulls = external.listing, external.pulls
        parts = [f"wrenches act at {', '.join(wrenches)}"] if wrenches else []
        parts += [f"pulls act at {', '.join(pulls)}"] if pulls else []
        return DiagnosticReport(
            "; ".join(parts) or "no external wrench acts",
            {
                f"wrench at {frame} [N, Nm]": _row((*wrench.force, *wrench.torque))
                + (" in world axes" if wrench.in_world else "")
                + (f" until {wrench.until:g} s" if math.isfinite(wrench.until) else "")
                for frame, wrench in wrenches.items()
            }
            | {
                f"pull at {frame}": f"turned to w x y z {_row(pull.quat_wxyz)}"
                if pull.turns
                else f"to {_row(pull.position)} m"
                for frame, pull in pulls.items()
            },
        )

    def _subscribe(self, namespace: str, _: None) -> Subscription:
        topic = in_namespace(namespace, EXTERNAL_WRENCH)
        handle = partial(self._handle, namespace, topic)
        return self._endpoints.subscription(WrenchStamped, topic, handle, RELIABLE)

    def _handle(self, namespace: str, topic: str, message: WrenchStamped) -> None:
        try:
            frame = self.find_frame(namespace, message.header.frame_id)
            force = _numbers("force", message.wrench.force)
            torque = _numbers("torque", message.wrench.torque)
        except UserInputError as error:
            self._rejections.report(topic, "refused", str(error))
            return
        timeout = self._values["external_wrench_timeout"] or math.inf
        in_world = self._values["external_wrench_axes"] == "world"
        wrenches = self._simulation.wrenches

        def command(time: float) -> None:
            wrench = AppliedWrench(
                force=force, torque=torque, in_world=in_world, until=time + timeout
            )
            wrenches.put(frame, wrench)

        self._submit(topic, command, stamp=nanoseconds(message.header.stamp))


def _numbers(name: str, vector: Vector3) -> tuple[float, float, float]:
    numbers = (float(vector.x), float(vector.y), float(vector.z))
    if not all(abs(number) <= _LARGEST for number in numbers):  # true for NaN
        shown = ", ".join(f"{number:g}" for number in numbers)
        raise UserInputError(
            f"{name} ({shown}) has a component that is not finite, or beyond {_LARGEST:g}"
        )
    return numbers


def _row(numbers: Iterable[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)
