"""The executor that spins every node of this package."""

from mujoco_ros.rclpy_ext.time_source import ignore_negative_times

try:  # less than half the processor time of the executors that poll; see README.md
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

ignore_negative_times()

__all__ = ["Executor"]
