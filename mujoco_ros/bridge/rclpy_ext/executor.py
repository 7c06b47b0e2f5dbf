"""The executor that spins every node of this package."""

try:  # less than half the processor time of the executors that poll; see README.md
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

__all__ = ["Executor"]
