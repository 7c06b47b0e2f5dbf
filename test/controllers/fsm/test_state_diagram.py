from xml.etree import ElementTree

import pytest
from scripted_states import table

from mujoco_ros.controllers import catalogue
from mujoco_ros.controllers.fsm.state_diagram import draw

EVERYTHING = """
rate: 100
initial: A
states:
  A: {class: Scripted, timeout: 2.5}
  WORK:
    timeout: 5
    machine:
      initial: X
      states:
        X: {class: Scripted}
        OUT: {outcome: finished}
        BROKE: {outcome: broken, failure: true}
      transitions: {X: {done: OUT, slip: BROKE}}
  WATCH:
    parallel: {P: {class: Wait}, Q: {class: Scripted}}
    join:
      - {when: {Q: slip}, outcome: alarm, failure: true}
      - {when: {P: done, Q: done}, outcome: calm}
  END: {class: Hold, outcome: success}
  STOP: {class: Hold, outcome: stopped, failure: true}
transitions:
  A: {done: WORK, slip: STOP, timeout: STOP, tap: {to: A, trigger: request}}
  WORK: {finished: {to: WATCH, trigger: strict}, broken: {to: STOP, trigger: strict}, timeout: STOP}
  WATCH: {calm: END, alarm: STOP}
  "*": {halt: {to: STOP, trigger: request}}
"""


pytest.importorskip("pygraphviz")


def strings(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [
        (element.text or "").replace("\u00a0", " ")
        for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_every_state_and_label_of_a_table_is_in_the_diagram():
    texts = strings(draw(table(EVERYTHING)))
    for name in ("A", "WORK", "X", "OUT", "BROKE", "WATCH", "P", "Q", "END", "STOP"):
        assert name in texts
    labels = {label for line in texts for label in line.split(", ")}
    assert labels >= {
        "done",
        "slip",
        "timeout",
        "tap",
        "finished",
        "broken",
        "calm",
        "alarm",
        "halt",
    }
    assert "Scripted · ≤ 2.5 s" in texts
    assert "P done and Q done → calm" in texts
    assert texts.count("any state") == 1


def test_requests_are_dashed_and_failures_are_red():
    dashed = draw(table(EVERYTHING)).count('stroke-dasharray="5,2"')
    plain = EVERYTHING.replace("trigger: strict", "trigger: auto")
    assert dashed == draw(table(plain)).count('stroke-dasharray="5,2"') + 2
    assert 'fill="none" stroke="#b8405e"' in draw(table(plain))


def test_many_failures_that_lead_to_one_state_name_it():
    names = [f"S{number}" for number in range(5)]
    states = "".join(f"  {name}: {{class: Scripted}}\n" for name in names)
    goals = dict(zip(names, [*names[1:], "END"], strict=True))
    arrows = "".join(f"  {name}: {{done: {goal}, slip: BAD}}\n" for name, goal in goals.items())
    ends = "  END: {class: Hold, outcome: over}\n  BAD: {class: Hold, outcome: failed}\n"
    data = f"rate: 100\ninitial: S0\nstates:\n{states}{ends}transitions:\n{arrows}"
    texts = strings(draw(table(data)))
    assert texts.count("slip") == texts.count("→ BAD") == 5


def test_a_diagram_is_reproducible():
    assert draw(table(EVERYTHING)) == draw(table(EVERYTHING))


@pytest.mark.parametrize("name", catalogue.names())
def test_every_shipped_controller_can_be_drawn(name):
    read = catalogue.load_table(name)
    assert set(read.root.children) <= set(strings(draw(read)))
