"""The log of a node, which is also the log of the layers below ROS: Python's logging."""

import inspect
import logging
from functools import partial
from types import SimpleNamespace
from typing import Any

from rclpy.impl import rcutils_logger
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node

from mujoco_ros.model.errors import LineFormatter, one_line

_write = rclpy_implementation.rclpy_logging_rcutils_log


class _Lines(str):
    """A text whose lines are escaped already; the first may have a traceback below."""

    __slots__ = ()


class RosLogHandler(logging.Handler):
    """Forwards log records to a ROS logger."""

    def __init__(self, logger: RcutilsLogger) -> None:
        super().__init__()
        self.setFormatter(LineFormatter())
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record with its severity."""
        text = _Lines(self.format(record))
        # One call site per severity: rclpy requires a constant severity for each.
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)

    def remove(self) -> None:
        """Forward no more records."""
        logging.getLogger().removeHandler(self)


def forward_log(node: Node) -> None:
    """Forward the log of this package, and warnings of its libraries, until ROS shuts down.

    Names and texts of messages, files and clients are in the log. So the line breaks of all that
    rclpy logs in this process are escaped, also of what code of others logs.
    """
    rclpy_implementation.rclpy_logging_rcutils_log = _write_line
    # rclpy finds the caller of each text. Without a limit, it reads the caller's source as well,
    # which takes 8 ms, and the first time 40 ms.
    rcutils_logger.inspect = SimpleNamespace(
        currentframe=inspect.currentframe, getframeinfo=partial(inspect.getframeinfo, context=0)
    )
    handler = RosLogHandler(node.get_logger())
    logging.getLogger().addHandler(handler)
    node.context.on_shutdown(handler.remove)
    logging.getLogger("mujoco_ros").setLevel(logging.INFO)


def _write_line(severity: Any, name: str, message: str, *caller: Any) -> None:
    """Write a text as one line; rclpy calls this function for each text that it logs."""
    text = message if isinstance(message, _Lines) else one_line(message)
    _write(severity, name, text, *caller)
