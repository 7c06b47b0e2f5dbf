"""Forwards Python's logging, which the layers below ROS use, to the log of a node."""

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger


class RosLogHandler(logging.Handler):
    """Forwards log records to a ROS logger."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Create a handler that writes to `logger`."""
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record with its severity."""
        text = self.format(record)
        # One call site per severity: rclpy requires a constant severity for each.
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)


def forward_log(logger: RcutilsLogger) -> None:
    """Forward the log of this package to the logger of a node."""
    package_log = logging.getLogger("mujoco_ros")
    package_log.addHandler(RosLogHandler(logger))
    package_log.setLevel(logging.INFO)
