"""The log of a node, in which a text is one line."""

import logging

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger

from mujoco_ros.wire import log_handler

FORGED = "j1\n[FATAL] [1.0] [mujoco]: forged\r\x1b[2J\u2028"
ESCAPED = "j1\\n[FATAL] [1.0] [mujoco]: forged\\r\\x1b[2J\\u2028"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, ros_node) -> list[str]:
    """Return what a node with the forwarded log writes."""
    texts: list[str] = []
    monkeypatch.setattr(
        log_handler, "_write", lambda _severity, _name, text, *_: texts.append(text)
    )
    monkeypatch.setattr(
        rclpy_implementation,
        "rclpy_logging_rcutils_log",
        rclpy_implementation.rclpy_logging_rcutils_log,
    )
    log_handler.forward_log(ros_node)
    return texts


def test_a_name_in_a_record_forges_no_line(written):
    logging.getLogger("mujoco_ros.sim").warning("joint '%s' not found", FORGED)
    assert written == [f"joint '{ESCAPED}' not found"]


def test_a_name_that_code_of_others_logs_by_rclpy_forges_no_line(written):
    get_logger("mujoco").warning(f"joint '{FORGED}' not found")
    assert written == [f"joint '{ESCAPED}' not found"]


def test_warnings_of_libraries_are_forwarded(written):
    logging.getLogger("websockets.server").warning("closing '%s'", FORGED)
    logging.getLogger("websockets.server").info("listening")
    assert written == [f"closing '{ESCAPED}'"]


def test_a_traceback_is_indented_below_its_line(written):
    try:
        raise ValueError(FORGED)
    except ValueError:
        logging.getLogger("mujoco_ros.sim").exception("a step of '%s' failed", FORGED)
    first, *others = written[0].split("\n")
    assert first == f"a step of '{ESCAPED}' failed"
    assert others[0] == "    Traceback (most recent call last):"
    assert "ValueError: j1" in written[0]
    assert all(line.startswith("    ") for line in others)


def test_nothing_is_forwarded_after_the_node_has_shut_down(written, ros_node):
    ros_node.destroy_node()
    ros_node.context.shutdown()
    logging.getLogger("mujoco_ros.sim").warning("late")
    assert written == []
