"""A controller on a node of its own, beside a robot that it knows by its topics alone."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes
from mujoco_ros.bridge.log_handler import RosLogHandler
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.bridge.rclpy_ext.tasks import guarded
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.bridge.simulation_interfaces.interfaces import service_name
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, LOOK, POSE_SET
from mujoco_ros.controllers.library.catalogue import load
from mujoco_ros.controllers.library.planner_access import PLANNERS
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.controllers.planning.planner import Planner, ProcessPlanner
from mujoco_ros.controllers.planning.requests import JointMove, MotionPlan
from mujoco_ros.controllers.ros.hosted_controller import controller_name
from mujoco_ros.controllers.ros.lifecycle_interface import LifecycleInterface
from mujoco_ros.controllers.ros.node.command_output import (
    JOINT_COMMANDS,
    TRAJECTORY_EFFORT,
    CommandOutput,
    JointCommands,
    Trajectories,
)
from mujoco_ros.controllers.ros.node.diagnostics import ControllerDiagnostics
from mujoco_ros.controllers.ros.node.gripper_goals import GripperGoals
from mujoco_ros.controllers.ros.node.image_requests import ImageRequests
from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
from mujoco_ros.controllers.ros.node.pacing import WAITING, ControllerPacing
from mujoco_ros.controllers.ros.node.parameters import CONTROLLER_NODE_PARAMETERS
from mujoco_ros.controllers.ros.node.placement import PlacementClient
from mujoco_ros.controllers.ros.node.remote_gains import RemoteGains
from mujoco_ros.controllers.ros.state_parameters import StateParameters
from mujoco_ros.controllers.runtime.robot_model import find_robot, robot_of
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

T = TypeVar("T")
_LOOK_S = 0.05
_BETWEEN = re.compile(r"[\s,]+")


class ControllerNode(Node):
    """Runs a controller at the stamps of a robot's joint states.

    It begins when all of the robot's topics have been heard, from where the robot is. When the
    robot falls silent it waits; when stamps jump, it begins anew. A controller that raises is
    stopped. Whatever ends, the robot holds.
    """

    failure: BaseException | None = None
    leaving = False

    def __init__(self, controller: str) -> None:
        """Load controller and scene, and listen to the robot.

        Args:
            controller: Name of a controller that is shipped, or path of a YAML file.

        Raises:
            ModelError: There is no such controller or robot, one does not fit the other, or a
                parameter is wrong.
        """
        try:
            super().__init__(controller_name(controller))
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        package_log = logging.getLogger("mujoco_ros")
        package_log.addHandler(RosLogHandler(self.get_logger()))
        package_log.setLevel(logging.INFO)
        endpoints, parameters, asker = Endpoints(self), Parameters(self), ServiceCaller(self)
        values = parameters.declare(CONTROLLER_NODE_PARAMETERS)
        loaded = load(controller, seed=values["seed"], rate=values["rate"] or None)
        plant = Plant(assemble(load_scene(values["scene"])), emit=lambda _event: None)
        index = find_robot(plant, values["robot"])
        robot, own, simulator = (
            robot_of(plant, index),
            plant.layout.robots[index],
            values["simulator"],
        )
        self._asker = asker
        self._planners: list[Planner] = []
        self._starting: list[Future[MotionPlan]] = []
        runner = SupervisedController(loaded)
        senses = TopicObservationSource(
            endpoints,
            plant.layout,
            index,
            heard=lambda: self._pacing.heard(time.monotonic()),
            every=values["lockstep"],
            wrench_sign=values["wrench_sign"],
            without=[topic for topic in _BETWEEN.split(values["without"]) if topic],
        )
        gains = RemoteGains(asker, simulator, own, _driven(plant, index), failed=runner.stop)
        placing = PlacementClient(
            asker, f"{simulator}/{service_name('SetEntityState')}", failed=runner.stop
        )
        looking = ImageRequests(endpoints, plant.layout, index, robot)

        def began() -> None:
            looking.reset()
            gains.refresh()

        store = loaded.store
        store.provide(PLANNERS, self._planner)
        store.provide(GAINS_GET, gains.get)
        store.provide(GAINS_SET, gains.set)
        store.provide(POSE_SET, placing.put)
        store.provide(LOOK, looking.request)
        runner.configure(robot)
        StateParameters(parameters, runner)
        parameters.reject_unknown()
        actor = self._actor(endpoints, plant, index, values, loaded.period)
        self._namesakes = DuplicateNodes(
            self, self.resolve_topic_name(actor.topic), self._is_controller
        )
        self._pacing = ControllerPacing(
            runner,
            senses,
            actor,
            lockstep=values["lockstep"],
            timeout=values["timeout"],
            missing=lambda: (
                *senses.missing,
                *([] if gains.settled else [f"{simulator}'s gains"]),
                # A clock that waits does so for plans, too.
                *([] if values["lockstep"] or self._can_plan else ["the planner"]),
            ),
            observed=looking.observe,
            began=began,
            stopped=lambda: self._figures.tell(),
        )
        self._contract = LifecycleInterface(endpoints, runner, _at_once, self._now, (WAITING,))
        self._reset = Service(self, Trigger, "~/reset", self._asked_to_reset)
        endpoints.subscription(Header, f"{simulator}/reset_event", self._was_reset, RELIABLE)
        self._figures = ControllerDiagnostics(
            endpoints, robot.name, lambda: self._pacing.report(time.monotonic()), self._now
        )
        # Not the node's clock: it is silence that is looked for.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._watch = self.create_timer(_LOOK_S, guarded(self._look), clock=steady)
        self.get_logger().info(f"begins when all topics of '{robot.name}' are heard")

    def start(self) -> None:
        """Do nothing: there is no thread to start."""

    def stop(self) -> None:
        """Let the robot hold."""
        self._pacing.end()
        for planner in self._planners:
            planner.close()

    def _actor(
        self,
        endpoints: Endpoints,
        plant: Plant,
        index: int,
        values: Mapping[str, Any],
        period: float,
    ) -> CommandOutput:
        """Return what tells the joints."""
        namespace, joints = plant.layout.robots[index].namespace, plant.controls[index].joints
        if values["output"] == JOINT_COMMANDS:
            return JointCommands(endpoints, namespace, joints)
        gripper = None
        if joints.gripper is not None:
            name = joints.names[joints.gripper]
            gripper = GripperGoals(self._asker, namespace, joints.gripper, name)
        return Trajectories(
            *(endpoints, namespace, joints, period, gripper),
            efforts=values["output"] == TRAJECTORY_EFFORT,
            lockstep=values["lockstep"],
        )

    def _planner(self, chain: Chain) -> Planner:
        planner = ProcessPlanner(chain)
        self._planners.append(planner)
        self._starting.append(planner.submit(_standing_still(chain)))
        return planner

    @property
    def _can_plan(self) -> bool:
        """Return whether planners have answered: a busy machine takes its time to start them."""
        return all(future.done() for future in self._starting)

    def _is_controller(self, name: str) -> bool:
        """Return whether a node is a controller, which has a state; others command now and then."""
        return bool(self.count_publishers(f"{name}/state") > 0)

    def _now(self) -> float:
        return self._pacing.time

    def _look(self) -> None:
        now = time.monotonic()
        self._asker.tick(now)
        self._pacing.look(now)

    def _asked_to_reset(self, _request: Trigger.Request, answer: Responder) -> None:
        self._pacing.restart("somebody asked for it")
        answer.response.success = True
        answer()

    def _was_reset(self, event: Header) -> None:
        """Begin anew after a reset that no stamp tells of."""
        what = event.frame_id.split()
        if "state" in what and "time" not in what:
            self._pacing.restart("the simulation was reset")


def _driven(plant: Plant, index: int) -> list[int]:
    """Return the joints of a robot that have PD gains."""
    columns = plant.layout.columns[index]
    servos = set(plant.drives.servo_joints.tolist())
    return [
        joint - columns.start for joint in range(columns.start, columns.stop) if joint in servos
    ]


def _standing_still(chain: Chain) -> JointMove:
    """Return a request for a motion that is none."""
    here, most = chain.model.qpos0[chain.qpos], np.ones(chain.size)
    return JointMove(start=here, goal=here, limits=MotionLimits(velocity=most, acceleration=most))


def _at_once(call: Callable[[], T]) -> "Future[T]":
    """Call something in the controller's thread, which is this one."""
    future: Future[Any] = Future()
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    return future
