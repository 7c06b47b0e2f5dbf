"""Circles of states without time are rejected when a table is loaded."""

import pytest
from scripted_states import table

from mujoco_ros.model.errors import UserInputError

CIRCLE = """
rate: 100
{top}
initial: A
states:
  A: {a}
  B: {{class: Wait, duration: 0.0}}
  C: {{class: Scripted}}
transitions:
  A: {{done: {to}, timeout: C, ended: B}}
  B: {{done: A, leave: {{to: C, trigger: request}}}}
  C: {{done: A, slip: B}}
"""


def circle(a: str = "{class: Wait, duration: 0.0}", *, to: str = "B", top: str = "") -> str:
    text = CIRCLE.format(a=a, to=to, top=top)
    if "timeout:" not in a:
        text = text.replace("timeout: C, ", "")
    if "machine:" not in a:
        return text.replace(", ended: B", "")
    return text.replace(f"done: {to}, ", "", 1)


@pytest.mark.parametrize(
    "text",
    [
        circle(),
        circle(to="{to: B, trigger: auto}"),
        circle("{class: Wait, duration: 0.004}"),
        circle("{machine: {initial: E, states: {E: {outcome: ended}}}}"),
    ],
)
def test_a_circle_without_time_is_named(text):
    with pytest.raises(UserInputError, match=r"forever without taking time: A -> B -> A; give"):
        table(text)


def test_a_state_that_waits_too_shortly_for_itself_is_named():
    text = """
rate: 100
initial: A
states: {A: {class: Hold, timeout: 0.001}}
transitions: {A: {timeout: A}}
"""
    with pytest.raises(UserInputError, match=r"test\.yaml: .* time: A -> A"):
        table(text)


@pytest.mark.parametrize(
    "text",
    [
        circle("{class: Wait, duration: 0.01}"),
        circle(to="{to: B, trigger: strict}"),
        circle(top="step_by_step: true"),
        circle(to="C"),
    ],
)
def test_a_circle_that_takes_time_or_waits_is_accepted(text):
    assert table(text).root.children.keys() == {"A", "B", "C"}
