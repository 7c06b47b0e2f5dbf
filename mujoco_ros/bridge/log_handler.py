"""Python's logging, as the layers below ROS use it, into ROS' log."""

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger


class RosLogHandler(logging.Handler):
    """Hands log records on to a ROS logger."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Create a handler that writes to `logger`."""
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record with its severity."""
        text = self.format(record)
        # One call site per severity: rclpy remembers the severity a call site used first.
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)
