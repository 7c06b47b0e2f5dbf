import pytest
from scripted_states import CLASSES, table

from mujoco_ros.controllers.fsm.table import Trigger
from mujoco_ros.controllers.fsm.table_reader import class_names, table_from_dict
from mujoco_ros.model.errors import UserInputError

GOOD = """
rate: 200
initial: A
states:
  A: {class: Scripted, speed: 0.2, timeout: 3}
  B: {class: Scripted, goal: [1, 2]}
  C: {class: Hold, outcome: success}
  D: {class: Hold, outcome: failure, failure: true}
transitions:
  A: {done: B, timeout: {to: D, trigger: strict}}
  B: {done: {to: C, trigger: auto}, back: {to: A, trigger: request}}
  "*": {slip: D, abort: {to: D, trigger: request}}
"""


def test_a_table_has_states_and_transitions():
    read = table(GOOD)
    rows = read.root.children
    assert (read.name, read.rate, read.step_by_step) == ("test", 200.0, False)
    assert rows["A"].outcomes == ("done", "slip", "timeout")
    assert rows["A"].failures == {"slip", "timeout"}
    assert rows["A"].config.speed == 0.2
    assert rows["B"].config.goal == (1.0, 2.0)
    assert (rows["D"].outcome, rows["D"].failure) == ("failure", True)
    assert {
        (row.name, label): arrow.goal
        for row in rows.values()
        for label, arrow in row.transitions.items()
    } == {
        ("A", "done"): "B",
        ("A", "timeout"): "D",
        ("A", "slip"): "D",
        ("A", "abort"): "D",
        ("B", "done"): "C",
        ("B", "back"): "A",
        ("B", "slip"): "D",
        ("B", "abort"): "D",
    }


def test_the_default_trigger_is_auto_for_failures_and_step_by_step_for_successes():
    rows = table(GOOD).root.children
    assert rows["A"].transitions["done"].trigger is Trigger.STEP_BY_STEP
    assert rows["A"].transitions["slip"].trigger is Trigger.AUTO
    assert rows["A"].transitions["timeout"].trigger is Trigger.STRICT
    assert rows["B"].transitions["done"].trigger is Trigger.AUTO
    assert rows["B"].transitions["abort"].trigger is Trigger.REQUEST


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rate: 200", "rate: 0", "test.yaml: rate 0.0 is not above zero"),
        ("rate: 200", "rat: 200", r"key 'rat' not found \(did you mean 'rate'\?\)"),
        ("rate: 200\n", "", "test.yaml: key 'rate' is missing"),
        ("initial: A\n", "", "test.yaml: key 'initial' is missing"),
        ("initial: A", "initial: E", "initial: state 'E' not found; there are: A, B, C, D"),
        (
            "class: Scripted, sp",
            "class: Scripte, sp",
            r"states.A: class 'Scripte' not found \(did you mean",
        ),
        (
            "class: Scripted, speed: 0.2, ",
            "",
            "states.A: expected one of the keys class, machine, par",
        ),
        ("class: Scripted, sp", "class: 5, sp", "states.A.class: expected a text, got 5"),
        ("speed: 0.2", "sped: 0.2", r"states.A: key 'sped' not found \(did you mean 'speed'\?\)"),
        ("timeout: 3", "timout: 3", r"states.A: key 'timout' not found \(did you mean 'timeout'"),
        ("speed: 0.2", "speed: fast", "states.A.speed: expected a number, got 'fast'"),
        ("speed: 0.2", "speed: -1", "states.A: speed -1.0 is not above zero"),
        ("timeout: 3", "timeout: 0", "states.A: timeout 0.0 is not above zero"),
        ("outcome: succ", "timeout: 1, outcome: succ", "C: it ends its machine with 'success', so"),
        ("class: Hold, outcome: succ", "class: Scripted, outcome: succ", "so it cannot continue"),
        ("outcome: success", "failure: true", "C: 'failure' needs an 'outcome'"),
        ("done: B,", "done: E,", "transitions.A.done: state 'E' not found; there are: A, B, C, D"),
        ("  A: {done", "  E: {done", r"transitions: state 'E' not found; there are: A, B, C, D, "),
        ("done: B,", "", "test.yaml: A: outcome 'done' without a row in transitions"),
        ("done: B,", "done: B, don: B,", r"A.don: outcome 'don' not found \(did you mean 'done'"),
        ("back: {to: A, trigger: request}", "back: A", "a request needs 'trigger: request'"),
        ("trigger: strict", "trigger: strickt", "'strickt' .* is not one of auto, step_by_step, "),
        (
            "trigger: auto",
            "trigger: request",
            "'done' is an outcome of B, so it cannot be",
        ),
        ("slip: D, ab", "slipp: D, ab", r"\*.slipp: outcome 'slipp' not found \(did you mean"),
        ("  B: {class", "  A: {class", "key 'A' is given twice"),
        ("  B: {class", "  on: {class", "states: key True is not a string"),
        ("  B: {class", "  B/C: {class", "states: state 'B/C' is not valid"),
        ("back: {", "go back: {", "transitions.B: label 'go back' is not valid"),
        ("states:\n", "states: []\nstate:\n", "key 'state' not found"),
    ],
)
def test_an_inconsistent_table_is_rejected_with_the_key(old, new, message):
    assert old in GOOD
    with pytest.raises(UserInputError, match=message):
        table(GOOD.replace(old, new))


LEVEL = (
    "machine: {initial: X, states: {X: {class: Wait}, Y: {outcome: ok}}, "
    "transitions: {X: {done: Y}}}"
)
PAIR = "parallel: {P: {class: Wait}, Q: {class: Scripted}}"
JOIN = "{when: {Q: slip}, outcome: bad}, {when: {P: done, Q: done}, outcome: good}"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (LEVEL, "C: outcome 'ok' without a row"),
        (f"{LEVEL}, outcome: success", "so it cannot continue"),
        (f"{LEVEL}, class: Hold", "expected one of the keys"),
        (LEVEL.replace("done: Y", "done: Z"), "C.machine.transitions.X.done: state 'Z' not found"),
        (LEVEL.replace("initial", "first"), "C.machine: key 'first' not found"),
        (LEVEL.replace("Y: {", "Y: {}, Z: {"), "C.machine.states.Y: expected one of the keys"),
        (LEVEL.replace("Y: {", "Y: {outcome: nope}, Z: {"), "C.machine: unreachable: Z; no trans"),
        (f"{PAIR}, join: [{JOIN}]", "C: outcome 'bad' without a row"),
        (f"{PAIR}, join: 5", "C.join: expected a list"),
        (PAIR, "C.join: no row for P: done, Q: done"),
        ("parallel: {}, join: []", "C.parallel: there are no branches"),
        (
            PAIR.replace("class: Scripted", "outcome: ok"),
            "parallel.Q: a branch cannot have 'outcome'",
        ),
        (f"{PAIR}, join: [{{when: {{}}, outcome: ok}}]", r"C.join\[0\].when: it names no branch"),
        (f"{PAIR}, join: [{JOIN}, {{when: {{Q: slip}}, outcome: ok}}]", r"\[2\]: it never applies"),
        (f"{PAIR}, join: [{JOIN.replace('Q: slip', 'R: slip')}]", r"when: branch 'R' not found"),
        (f"{PAIR}, join: [{JOIN.replace('Q: slip', 'Q: slap')}]", r"outcome 'slap' not found"),
    ],
)
def test_inconsistent_machines_and_branches_are_rejected_with_the_key(state, message):
    with pytest.raises(UserInputError, match=message):
        table(GOOD.replace("class: Hold, outcome: success", state))


def test_an_unreachable_state_is_rejected():
    with pytest.raises(UserInputError, match="unreachable: C; no transition leads there from 'A'"):
        table(GOOD.replace("done: {to: C, trigger: auto}", "done: A"))


def test_a_state_without_transitions_needs_an_outcome():
    with pytest.raises(UserInputError, match="A: dead end: it has no transition"):
        table("{rate: 1, initial: A, states: {A: {class: Hold}}}")


def test_a_huge_or_deep_file_is_rejected_quickly():
    lines = ["a0: &a0 {class: Hold}"]
    for n in range(1, 12):
        lines.append(f"a{n}: &a{n} {{{', '.join(f'b{m}: *a{n - 1}' for m in range(10))}}}")
    for count, limit in (
        (5, r"test.yaml: more than 20000 entries"),
        (12, "more than 100000 values"),
    ):
        with pytest.raises(UserInputError, match=limit):
            table("rate: 1\ninitial: A\nstates:\n  " + "\n  ".join(lines[:count]))
    machine = "{outcome: ok}"
    for _ in range(18):
        machine = f"{{machine: {{initial: A, states: {{A: {machine}}}}}}}"
    with pytest.raises(UserInputError, match="more than 16 nested machines"):
        table(f"{{rate: 1, initial: A, states: {{A: {machine}}}}}")


@pytest.mark.parametrize("data", [None, 5, "A", [], {"rate": 1, "initial": "A", "states": 5}])
def test_data_without_a_mapping_are_rejected(data):
    with pytest.raises(UserInputError, match="expected a mapping"):
        table_from_dict(data, CLASSES, name="test", where="test.yaml")


def test_class_names_are_read_without_the_classes():
    data = {"states": {"A": {"class": "Scripted"}, "B": {"parallel": {"C": {"class": "Hold"}}}}}
    assert class_names(data, "test.yaml") == {"Scripted", "Hold"}
