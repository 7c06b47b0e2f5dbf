"""Lines of logs."""

import io
import logging

import pytest

from mujoco_ros.cli.command_line import fail
from mujoco_ros.inspection.report import captured_messages
from mujoco_ros.model.errors import LineFormatter, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("joint 'ä' → 3 °", "joint 'ä' → 3 °"),
        ("a\nb", "a\\nb"),
        ("a\r\n  b\tc", "a\\r\\n  b\\tc"),
        ("\x1b[31m\x07\x9b", "\\x1b[31m\\x07\\x9b"),
        ("\u2028\u202e\ufeff", "\\u2028\\u202e\\ufeff"),
        ("\udc80", "\\udc80"),
    ],
)
def test_a_text_is_one_line_without_control_characters(text, line):
    assert one_line(text) == line


def test_a_record_of_a_command_line_is_one_line():
    stream, logger = io.StringIO(), logging.Logger("record")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter("record: %(message)s"))
    logger.addHandler(handler)
    logger.warning("'%s' is not recorded", "/a\nrecord: all is well")
    assert stream.getvalue() == "record: '/a\\nrecord: all is well' is not recorded\n"


def test_further_lines_of_an_error_are_indented(capsys):
    assert fail("line 3 of 'a'\nmujoco_ros: error: forged\x1b[2J") == 1
    written = capsys.readouterr().err
    assert written == ("mujoco_ros: error: line 3 of 'a'\n  mujoco_ros: error: forged\\x1b[2J\n")


def test_a_message_in_a_report_is_one_line():
    with captured_messages() as messages:
        logging.getLogger("mujoco_ros.model").warning("mesh '%s'", "a\nOK")
    assert messages == ["mesh 'a\\nOK'"]
