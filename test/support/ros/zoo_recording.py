"""A recording of the shipped zoo, and the topics of its interface contract."""

from dataclasses import dataclass

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import (
    AccelStamped,
    PoseStamped,
    TwistStamped,
    WrenchStamped,
)
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from reference_run import Instant, reference_run
from ros_gz_interfaces.msg import Contacts
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.action import SimulateSteps
from simulators import DEEP, Listener, Recording, Simulator, SimulatorLauncher, steps_of
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
    **{
        f"/{robot}/{topic}": (JointState, RELIABLE)
        for robot in ROBOTS
        for topic in ("joint_states", "joint_references")
    },
    **{
        f"/{robot}/joint_trajectory_controller/controller_state": (
            JointTrajectoryControllerState,
            RELIABLE,
        )
        for robot in ROBOTS
    },
    **{
        f"/{side}_arm/cartesian_controller/{topic}": (kind, RELIABLE)
        for side in ("left", "right")
        for topic, kind in {"current_pose": PoseStamped, "current_twist": TwistStamped}.items()
    },
    **{f"/{robot}/contact_states": (Contacts, BEST_EFFORT) for robot in ROBOTS},
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
"""Periodic topics: type and reliability."""

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
"""Topics with occasional messages."""

RARE = {
    "/mujoco/reset_event",
    *(f"/{robot}/joint_trajectory_controller/goal_trajectory" for robot in ROBOTS),
}
"""Topics with messages only after certain events."""

COMMANDS: dict[str, type] = {
    **{f"/{robot}/joint_commands": JointState for robot in ROBOTS},
    **{f"{robot}/external_wrench": WrenchStamped for robot in ("", *(f"/{r}" for r in ROBOTS))},
    **{f"{robot}/external_efforts": JointState for robot in ("", *(f"/{r}" for r in ROBOTS))},
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
    **{
        f"/{robot}/joint_trajectory_controller/speed_scaling_input": SpeedScalingFactor
        for robot in ROBOTS
    },
    **{
        f"/{robot}/cartesian_controller/target_{target}": kind
        for robot in ROBOTS
        for target, kind in {
            "pose": PoseStamped,
            "twist": TwistStamped,
            "wrench": WrenchStamped,
            "stiffness": Float64MultiArray,
        }.items()
    },
}
"""Command topics of robots; all are reliable."""

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
    """Return the strictest compatible QoS, deep enough to lose no message."""
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
class ZooRecording:
    """The running zoo, its recorded topics, and the expected instants."""

    simulator: Simulator
    listener: Listener
    recordings: dict[str, Recording]
    instants: dict[int, Instant]


_MINIMUM = {"/tf": 8} | {
    topic: 8 for topic in PERIODIC if topic.endswith(("/controller_state", "/contact_states"))
}
_DEFAULT_MINIMUM = 30


def record_zoo(start: SimulatorLauncher) -> ZooRecording:
    """Record the zoo at a tenth of real time, so that a busy machine keeps up."""
    simulator = start.simulator(scene="zoo", real_time_factor=0.1)
    listener = start.listener(simulator)
    recordings = {
        topic: listener.record(kind, topic, qos=subscription_qos(quality))
        for topic, (kind, quality) in (PERIODIC | OCCASIONAL).items()
    }
    minimum = {topic: _MINIMUM.get(topic, _DEFAULT_MINIMUM) for topic in PERIODIC}
    minimum |= dict.fromkeys(OCCASIONAL, 1)
    listener.spin_until(lambda: all(len(recordings[t]) >= n for t, n in minimum.items()))
    listener.forget_subscriptions()
    moving = [recordings[topic].messages for topic in PERIODIC if topic != "/clock"]
    steps = {step for messages in moving if messages for step in steps_of(messages)}
    return ZooRecording(simulator, listener, recordings, reference_run("zoo", steps))
