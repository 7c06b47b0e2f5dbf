"""Messages do not repeat long texts."""

import pytest

from mujoco_ros.model.errors import UserInputError, counted, shortened, unknown


def test_short_messages_stay_as_they_are():
    message = f"joint 'a b' of '/a/{'b' * 150}' not found; there are: {', '.join('abc')}"
    assert shortened(message) == message


@pytest.mark.parametrize("filler", ["k", "ab cd ", "é"])
def test_quotations_are_cut_at_200_characters(filler):
    name = filler * 100_000
    message = str(UserInputError(f"joint '{name}' not found; there are: a, b"))
    assert message == f"joint '{name[:200]}…' not found; there are: a, b"


@pytest.mark.parametrize("end", ["", " Element 'joint', line 1"])
def test_quotations_without_an_end_are_cut(end):
    message = str(UserInputError(f"invalid keyword: '{'q ' * 250}{end}"))
    assert message.startswith(f"invalid keyword: '{'q ' * 100}…")
    assert len(message) < 250


def test_control_characters_are_escaped():
    message = str(UserInputError("joint 'a\x1b[31m\x00\u202e' not found\nin é.xml"))
    assert message == "joint 'a\\x1b[31m\\x00\\u202e' not found\nin é.xml"


def test_words_without_marks_are_cut():
    assert str(UserInputError(f"{'k' * 100_000}: is wrong")) == f"{'k' * 200}… is wrong"


def test_an_apostrophe_begins_no_quotation():
    words = "a word of the message " * 15
    message = f"the robot's joints {words}and the joints' names"
    assert shortened(message) == message


def test_a_message_as_a_whole_is_limited():
    assert len(str(unknown("joint", "x", [f"joint_{i}" for i in range(100_000)]))) == 4001


def test_a_message_that_was_shortened_stays_the_same():
    once = shortened(f"'{'k' * 1000}' and {'l' * 1000} " + "word " * 2000)
    assert shortened(once) == once


def test_one_is_counted_in_the_singular():
    assert [counted(n, "IMU") for n in (0, 1, 2)] == ["0 IMUs", "1 IMU", "2 IMUs"]
    assert [counted(n, "body") for n in (1, 2)] == ["1 body", "2 bodies"]
