"""A controller on a separate node that uses only the topics of a robot, and its parameters."""

import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from mujoco_ros.bridge.diagnostics.report import PERIOD_S, DiagnosticPublisher
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, IMAGE_GET, POSE_SET
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.controllers.planning.planner import PLANNERS, Planner, ProcessPlanner
from mujoco_ros.controllers.planning.requests import JointMove, MotionPlan
from mujoco_ros.controllers.ros.controller_settings import CONTROLLER_PARAMETERS, controller_name
from mujoco_ros.controllers.ros.controller_topics import ControllerTopics
from mujoco_ros.controllers.ros.lifecycle_interface import LifecycleInterface
from mujoco_ros.controllers.ros.node import command_output
from mujoco_ros.controllers.ros.node.host_requests import HostRequests, PlacementClient, RemoteGains
from mujoco_ros.controllers.ros.node.image_requests import ImageRequests
from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
from mujoco_ros.controllers.ros.node.pacing import WAITING, ControllerPacing
from mujoco_ros.controllers.ros.state_parameters import StateParameters, controller_panel
from mujoco_ros.controllers.runtime.robot_model import find_robot, robot_model
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rclpy_ext.endpoints import DuplicateNodes, Endpoints
from mujoco_ros.rclpy_ext.executor import create_wall_timer
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.sim.controlled_joints import DrivenModel
from mujoco_ros.sim.stepping.real_time import RealTimePriority
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.log_handler import forward_log
from mujoco_ros.wire.names import service_name
from mujoco_ros.wire.parameter_spec import REALTIME_PRIORITY, WRENCH_SIGN, ParameterSpec
from mujoco_ros.wire.qos import RELIABLE
from mujoco_ros.wire.service_caller import ServiceCaller

_HOSTED = {spec.name: spec for spec in CONTROLLER_PARAMETERS}

_read_only = partial(ParameterSpec, read_only=True)
CONTROLLER_NODE_PARAMETERS = (
    _read_only(
        "scene",
        "arm",
        "Scene with the robot and its environment, for kinematics and planning: name of a shipped "
        "scene, or path of a scene YAML, MJCF, URDF or MJB file",
    ),
    replace(_HOSTED["controller_robot"], name="robot"),
    replace(_HOSTED["controller_seed"], name="seed"),
    replace(_HOSTED["controller_time_limit"], name="time_limit"),
    _read_only(
        "rate",
        0.0,
        "Ticks per second of the robot's stamps [Hz]; 0 is the controller's own rate",
        low=0.0,
        high=10_000.0,
        least=0.1,
    ),
    _read_only(
        "timeout",
        0.5,
        "Time without joint_states after which the controller pauses [s], and gap in their stamps "
        "after which it restarts [s]",
        low=0.01,
        high=3600.0,
    ),
    _read_only(
        "lockstep",
        False,
        "Whether the clock of a simulator waits for this controller: a tick then waits for all "
        "sensors and for plans, and is at a multiple of the period",
    ),
    replace(
        REALTIME_PRIORITY,
        description="SCHED_FIFO priority of the thread with the ticks where the system permits it, "
        "and the next lower one for the others of its process, so that ticks are not late while "
        "other programs are busy; dropped for 10 to 300 s when ticks are too slow, not used in "
        "lockstep; 0 is none",
    ),
    _read_only(
        "output",
        command_output.OUTPUTS[0],
        "Type of commands: a stream of joint commands, or short trajectories, without or with "
        "efforts, and goals for the gripper",
        choices=command_output.OUTPUTS,
    ),
    _read_only(
        "without",
        "",
        "Topics of the scene that the robot does not publish, such as 'odom, imu/pelvis_imu, "
        "tf/box'; the controller waits for all others",
    ),
    _read_only(
        "simulator",
        "/mujoco",
        "Full name of the node with the gain parameters of the robot, used if it runs at the "
        "start; empty for none",
    ),
    WRENCH_SIGN,
)
T = TypeVar("T")
_POLL_S = 0.05
_SEPARATOR = re.compile(r"[\s,]+")


class ControllerNode(Node):
    """Runs a controller at the stamps of a robot's joint states.

    The controller starts when all topics of the robot are received, at the measured positions. It
    pauses without joint states, restarts when their stamps jump, and stops after an exception. The
    robot holds its position whenever the controller does not run.
    """

    failure: BaseException | None = None
    leaving = False

    def __init__(self, controller: str) -> None:
        """Load a controller, by name or path of a YAML file, and its scene, and open all topics."""
        try:
            super().__init__(controller_name(controller))
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        forward_log(self)
        endpoints, parameters, caller = Endpoints(self), Parameters(self), ServiceCaller(self)
        values = parameters.declare(CONTROLLER_NODE_PARAMETERS)
        loaded = load(controller, seed=values["seed"], rate=values["rate"] or None)
        plant = DrivenModel(assemble(load_scene(values["scene"])))
        index = find_robot(plant, values["robot"])
        robot, simulator = robot_model(plant, index), values["simulator"]
        # In lockstep the clock waits for the ticks, and a run may be as fast as possible.
        priority = 0 if values["lockstep"] else values["realtime_priority"]
        self._priority = RealTimePriority(priority, "ticks")
        self._caller = caller
        self._planners: list[Planner] = []
        self._first_plans: list[Future[MotionPlan]] = []
        supervised = SupervisedController(loaded, self._now)
        supervised.time_limit.limit_s = values["time_limit"]
        self._observations = observations = TopicObservationSource(
            endpoints,
            plant.layout,
            index,
            period=loaded.period,
            on_message=self._advance,
            every=values["lockstep"],
            wrench_sign=values["wrench_sign"],
            without=[topic for topic in _SEPARATOR.split(values["without"]) if topic],
        )
        layout, driven = plant.layout.robots[index], _driven(plant, index)
        failed, changed = supervised.stop, self._advance
        gains = RemoteGains(caller, simulator, layout, driven, failed=failed, changed=changed)
        service = f"{simulator}/{service_name('SetEntityState')}"
        placement = PlacementClient(caller, service, failed=failed, changed=changed)
        images = ImageRequests(
            *(endpoints, plant.layout, index, robot), lockstep=values["lockstep"], changed=changed
        )
        store, shielded = loaded.store, supervised.time_limit.shielded
        store.provide(PLANNERS, shielded(self._planner))
        store.provide(GAINS_GET, shielded(gains.get))
        store.provide(GAINS_SET, shielded(gains.set))
        store.provide(POSE_SET, shielded(placement.set_pose))
        store.provide(IMAGE_GET, shielded(images.request))
        topics = ControllerTopics(endpoints, loaded, layout, _call, now=self._now)
        supervised.configure(robot)
        StateParameters(parameters, supervised.machine)
        parameters.reject_unknown()
        panel = controller_panel(endpoints, supervised.machine, _call)

        def publish(time: float) -> None:
            topics.publish(time)
            panel.publish(time)

        output = self._output(endpoints, plant, index, values, loaded.period)
        self._duplicates = DuplicateNodes(
            self, self.resolve_topic_name(output.topic), self._is_controller
        )
        self._pacing = ControllerPacing(
            supervised,
            observations,
            output,
            lockstep=values["lockstep"],
            timeout=values["timeout"],
            missing=lambda: (
                *observations.missing,
                *([] if gains.settled else [f"{simulator}'s gains"]),
                # A lockstep clock waits for plans in any case, and forever for a lost command.
                *([] if values["lockstep"] or self._can_plan else ["the planner"]),
                *(
                    [f"a subscription of {output.topic}"]
                    if values["lockstep"] and not output.has_subscription
                    else []
                ),
            ),
            observed=images.observe,
            stepped=publish,
            requests=HostRequests(gains, placement, images),
            stopped=self._publish_diagnostics,
        )
        self._interface = LifecycleInterface(endpoints, supervised, _call, (WAITING,))
        self._reset_service = Service(self, Trigger, "~/reset", self._reset)
        self._resets = endpoints.subscription(
            Header, f"{simulator}/reset_event", self._follow_reset, RELIABLE
        )
        self._diagnostics = DiagnosticPublisher(self, hardware=robot.name)
        create_wall_timer(self, PERIOD_S, self._publish_diagnostics)
        create_wall_timer(self, _POLL_S, self._poll)
        self.get_logger().info(f"starts when all topics of '{robot.name}' are received")

    def start(self) -> None:
        """Request the real-time priority for the calling thread, which will run the ticks."""
        self._priority.want(True, time.monotonic(), self._pacing.lost_s)

    def stop(self) -> None:
        """Stop the controller, with all joints holding, and close the planners."""
        self._pacing.end()
        for planner in self._planners:
            planner.close()

    def _output(
        self,
        endpoints: Endpoints,
        plant: DrivenModel,
        index: int,
        values: Mapping[str, Any],
        period: float,
    ) -> command_output.CommandOutput:
        namespace, joints = plant.layout.robots[index].namespace, plant.controlled[index]
        if values["output"] == command_output.JOINT_COMMANDS:
            return command_output.JointCommands(endpoints, namespace, joints)
        gripper = None
        if joints.gripper is not None:
            name = joints.names[joints.gripper]
            gripper = command_output.GripperGoals(self._caller, namespace, joints.gripper, name)
        return command_output.Trajectories(
            *(endpoints, namespace, joints, period, gripper),
            efforts=values["output"] == command_output.TRAJECTORY_EFFORT,
            lockstep=values["lockstep"],
        )

    def _planner(self, chain: Chain) -> Planner:
        planner = ProcessPlanner(chain)
        self._planners.append(planner)
        q, limit = chain.model.qpos0[chain.qpos], np.ones(chain.size)
        limits = MotionLimits(velocity=limit, acceleration=limit)
        self._first_plans.append(planner.submit(JointMove(start=q, goal=q, limits=limits)))
        return planner

    @property
    def _can_plan(self) -> bool:
        """Whether all planner processes have started, which can take seconds."""
        return all(future.done() for future in self._first_plans)

    def _is_controller(self, name: str) -> bool:
        """Return whether a node is a controller; other publishers may send single commands."""
        return bool(self.count_publishers(f"{name}/state") > 0)

    def _advance(self) -> None:
        """Run a tick, or publish its commands, if that is possible now."""
        # A clock in lockstep waits until the report of a reset was received; it comes first.
        with self._resets.handle:
            while (taken := self._resets.handle.take_message(Header, False)) is not None:
                self._follow_reset(taken[0])
        now = time.monotonic()
        self._pacing.receive(now)
        self._priority.check(now, self._pacing.lost_s)

    def _now(self) -> float:
        return 1e-9 * (self._observations.stamp or 0)

    def _poll(self) -> None:
        now = time.monotonic()
        self._caller.tick(now)
        self._pacing.poll(now)

    def _publish_diagnostics(self) -> None:
        self._priority.excuse(self._pacing.lost_s)
        report = partial(self._pacing.report, time.monotonic())
        self._diagnostics.publish(self._now(), {"controller": report})

    def _reset(self, _request: Trigger.Request, answer: Responder) -> None:
        self._pacing.restart("reset requested")
        answer.response.success = True
        answer()

    def _follow_reset(self, event: Header) -> None:
        """Restart after a reset; a jump back of the stamps has the same effect."""
        rewinds = "time" in event.frame_id.split()
        self._pacing.follow_reset(nanoseconds(event.stamp), rewinds=rewinds)


def _driven(plant: DrivenModel, index: int) -> list[int]:
    columns = plant.layout.columns[index]
    servos = set(plant.drives.servo_joints.tolist())
    return [
        joint - columns.start for joint in range(columns.start, columns.stop) if joint in servos
    ]


def _call(call: Callable[[], T]) -> "Future[T]":
    """Call a function in the controller's thread, which is the executor's."""
    future: Future[Any] = Future()
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    return future
