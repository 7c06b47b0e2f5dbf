"""Regular expressions from clients."""

import contextlib
import time

import pytest

from mujoco_ros.bridge.simulation_interfaces.filters import LONGEST, Pattern, PatternError


@pytest.mark.parametrize(
    ("expression", "matching", "other"),
    [
        ("box", ("box", "box_1", "my_box"), ("bo", "BOX", "")),
        ("^box$", ("box",), ("box_1", "my_box")),
        ("^box_[0-9]+$", ("box_1", "box_42"), ("box_", "box_x")),
        ("^(left|right)_arm", ("left_arm", "right_arm_2"), ("arm", "my_left_arm")),
        ("^a{2,3}$", ("aa", "aaa"), ("a", "aaaa")),
        ("^[^0-9]*$", ("", "abc"), ("a1",)),
        ("^[[:alpha:]_]+$", ("left_arm",), ("arm1",)),
        ("^[]a-]+$", ("]-a",), ("b",)),
        (r"^a\.b$", ("a.b",), ("axb",)),
    ],
)
def test_an_expression_matches_as_posix_defines(expression, matching, other):
    pattern = Pattern(expression)
    for text in matching:
        assert pattern.search(text), text
    for text in other:
        assert not pattern.search(text), text


@pytest.mark.parametrize(
    "expression", ["(?x)a{9 9 9 9 9 9 9}", "(?:a)", "(?R)", "(?e)a", r"\\(?x)a{9 9 9 9 9}"]
)
def test_groups_that_posix_does_not_have_are_refused(expression):
    with pytest.raises(PatternError, match=r"nothing before '\?'"):
        Pattern(expression)


@pytest.mark.parametrize("expression", ["(", ")", "*", "[a", "[z-a]", "a\\", "(" * LONGEST])
def test_a_malformed_expression_is_named(expression):
    with pytest.raises(PatternError, match="is malformed"):
        Pattern(expression)


def test_a_long_expression_is_refused():
    with pytest.raises(PatternError, match=f"5000 characters; {LONGEST} are possible"):
        Pattern("a" * 5000)


@pytest.mark.parametrize("expression", ["((a{200}){200}){200}", "(a{1,99}){2,99}", "a{9,2000}"])
def test_repeats_that_would_fill_the_memory_are_refused(expression):
    with pytest.raises(PatternError, match="repeats; 1000 are possible"):
        Pattern(expression)


@pytest.mark.parametrize(
    "expression",
    ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*$", "(.*a){12}", "((a{10}){9}){9}$"],
)
def test_no_expression_takes_longer_than_its_budget(expression):
    began = time.process_time()
    pattern = Pattern(expression)
    with contextlib.suppress(PatternError):
        for _ in range(100):
            pattern.search("a" * 64 + "b")
    assert time.process_time() - began < 1.0


def test_an_expression_that_exceeds_its_budget_is_reported():
    with pytest.raises(PatternError, match="takes too long to match"):
        Pattern(r"^(a|aa|a)+\1$").search("a" * 200 + "b")


def test_the_time_that_other_processes_take_is_not_counted(monkeypatch):
    pattern = Pattern("^box")
    search, interruptions = pattern._compiled.search, iter(range(3))

    class Interrupted:
        """A search that the scheduler interrupts for longer than the budget, three times."""

        def search(self, *args: object, **options: object) -> object:
            if next(interruptions, None) is not None:
                raise TimeoutError
            return search(*args, **options)

    monkeypatch.setattr(pattern, "_compiled", Interrupted())
    assert pattern.search("box_1")
