"""The shipped zoo, recorded, and what it must publish: written down from the interface contract."""

from dataclasses import dataclass

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from replay import Instant, replay
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.action import SimulateSteps
from simulators import DEEP, Listener, Recording, Simulator, Starter, steps_of
from std_msgs.msg import Float64MultiArray, String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import InteractiveMarkerFeedback

RELIABLE, BEST_EFFORT, LATCHED = "reliable", "best effort", "latched"

ROBOTS = ("humanoid", "quadruped", "left_arm", "right_arm")
INTERFACES = ("position", "velocity", "effort")

PERIODIC: dict[str, tuple[type, str]] = {
    "/clock": (Clock, RELIABLE),
    "/tf": (TFMessage, RELIABLE),
    **{f"/{robot}/joint_states": (JointState, RELIABLE) for robot in ROBOTS},
    **{
        f"/{robot}/joint_trajectory_controller/controller_state": (
            JointTrajectoryControllerState,
            RELIABLE,
        )
        for robot in ROBOTS
    },
    "/humanoid/imu/pelvis_imu": (Imu, BEST_EFFORT),
    "/quadruped/imu/trunk_imu": (Imu, BEST_EFFORT),
    **{
        f"/humanoid/wrench/{side}_{joint}_ft": (WrenchStamped, BEST_EFFORT)
        for side in ("left", "right")
        for joint in ("ankle", "wrist")
    },
    **{
        f"/{side}_arm/{topic}": (kind, BEST_EFFORT)
        for side in ("left", "right")
        for topic, kind in {
            "wrench/wrist_ft": WrenchStamped,
            "imu/gripper_imu": Imu,
            "contact/left_pad": WrenchStamped,
            "contact/right_pad": WrenchStamped,
        }.items()
    },
    "/humanoid/contact/left_foot": (WrenchStamped, BEST_EFFORT),
    "/humanoid/contact/right_foot": (WrenchStamped, BEST_EFFORT),
    **{
        f"/quadruped/contact/{leg}_foot": (WrenchStamped, BEST_EFFORT)
        for leg in ("FL", "FR", "RL", "RR")
    },
    **{f"/{robot}/odom": (Odometry, RELIABLE) for robot in ("humanoid", "quadruped")},
    **{f"/{robot}/base_accel": (AccelStamped, BEST_EFFORT) for robot in ("humanoid", "quadruped")},
}
"""Topics that flow at a rate: type and reliability."""

OCCASIONAL: dict[str, tuple[type, str]] = {
    "/tf_static": (TFMessage, LATCHED),
    "/diagnostics": (DiagnosticArray, RELIABLE),
    **{f"/{robot}/robot_description": (String, LATCHED) for robot in ROBOTS},
    **{
        f"/{robot}/{interface}_controller/joints": (JointState, LATCHED)
        for robot in ROBOTS
        for interface in INTERFACES
    },
}
"""Topics with a message now and then."""

RARE = {"/mujoco/reset_event"}
"""Topics with a message when something happens that does not by itself."""

COMMANDS: dict[str, type] = {
    **{f"/{robot}/joint_commands": JointState for robot in ROBOTS},
    **{f"{robot}/external_wrench": WrenchStamped for robot in ("", *(f"/{r}" for r in ROBOTS))},
    "/external_wrench/pull": InteractiveMarkerFeedback,
    **{
        f"/{robot}/{interface}_controller/commands": Float64MultiArray
        for robot in ROBOTS
        for interface in INTERFACES
    },
    **{
        f"/{robot}/joint_trajectory_controller/joint_trajectory": JointTrajectory
        for robot in ROBOTS
    },
}
"""Topics by which robots are commanded; all of them are reliable."""

ACTIONS: dict[str, type] = {
    **{
        f"/{robot}/joint_trajectory_controller/follow_joint_trajectory": FollowJointTrajectory
        for robot in ROBOTS
    },
    **{
        f"/{robot}/gripper_controller/gripper_cmd": ParallelGripperCommand
        for robot in ("left_arm", "right_arm")
    },
    "/mujoco/simulate_steps": SimulateSteps,
}


def subscription_qos(kind: str) -> QoSProfile:
    """Return the strictest quality to ask of a topic, deep enough to lose nothing."""
    return QoSProfile(
        depth=DEEP,
        reliability=ReliabilityPolicy.BEST_EFFORT
        if kind == BEST_EFFORT
        else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if kind == LATCHED
        else DurabilityPolicy.VOLATILE,
    )


@dataclass(frozen=True)
class Zoo:
    """The zoo, running; what it published for a while; and what it should have said."""

    simulator: Simulator
    listener: Listener
    recordings: dict[str, Recording]
    instants: dict[int, Instant]


_FEWEST = {"/tf": 15} | {topic: 15 for topic in PERIODIC if topic.endswith("/controller_state")}
_FEWEST_OF_THE_REST = 60


def record_zoo(start: Starter) -> Zoo:
    """Listen to the zoo, run at a tenth of real time so that a busy machine can follow."""
    simulator = start.simulator(scene="zoo", real_time_factor=0.1)
    listener = start.listener(simulator)
    recordings = {
        topic: listener.record(kind, topic, qos=subscription_qos(quality))
        for topic, (kind, quality) in (PERIODIC | OCCASIONAL).items()
    }
    fewest = {topic: _FEWEST.get(topic, _FEWEST_OF_THE_REST) for topic in PERIODIC}
    fewest |= dict.fromkeys(OCCASIONAL, 1)
    listener.spin_until(lambda: all(len(recordings[t]) >= n for t, n in fewest.items()))
    listener.forget_subscriptions()
    moving = [recordings[topic].messages for topic in PERIODIC if topic != "/clock"]
    steps = {step for messages in moving if messages for step in steps_of(messages)}
    return Zoo(simulator, listener, recordings, replay("zoo", steps))
