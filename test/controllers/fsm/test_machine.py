import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_states import PERIOD, ROBOT, Run, Scripted, seen, table

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state_calls import StateError
from mujoco_ros.controllers.fsm.table import TransitionRejectedError, Trigger
from mujoco_ros.model.errors import UserInputError

CHAIN = """
rate: 100
initial: A
states:
  A: {class: Scripted, name: a}
  B: {class: Scripted, name: b, timeout: 0.05}
  END: {class: Hold, outcome: success}
  BAD: {class: Hold, outcome: failure, failure: true}
transitions:
  A: {done: B}
  B: {done: {to: END, trigger: strict}, timeout: A}
  "*": {slip: BAD, stop: {to: BAD, trigger: request}}
  BAD: {again: {to: A, trigger: request}}
"""

NESTED = """
rate: 100
initial: A
states:
  A: {class: Scripted, name: a}
  WORK:
    timeout: 0.5
    machine:
      initial: X
      states:
        X: {class: Scripted, name: x}
        Y: {class: Scripted, name: y}
        OUT: {class: Hold, outcome: done}
        BAD: {outcome: broken, failure: true}
      transitions:
        X: {done: Y, jump: {to: Y, trigger: request}, stop: {to: OUT, trigger: request}}
        Y: {done: OUT}
        "*": {slip: BAD}
  END: {outcome: success}
transitions:
  A: {done: WORK, slip: END}
  WORK: {done: {to: END, trigger: strict}, broken: A, timeout: END}
  "*": {stop: {to: END, trigger: request}}
"""

WATCHED = """
rate: 100
initial: BOTH
states:
  BOTH:
    parallel:
      MOVE: {class: Scripted, name: move}
      GUARD: {class: Scripted, name: guard, timeout: 0.1}
    join:
      - {when: {GUARD: slip}, outcome: alarm}
      - {when: {MOVE: slip}, outcome: alarm}
      - {when: {MOVE: done, GUARD: done}, outcome: done}
      - {when: {GUARD: timeout}, outcome: late}
  END: {outcome: success}
transitions:
  BOTH: {done: END, alarm: END, late: END}
"""


def test_a_state_is_started_run_and_torn_down():
    run = Run.of(CHAIN)
    assert (run.state, Scripted.calls) == ("A", [])
    run.step(2)
    assert Scripted.calls == ["start a", "run a", "run a"]
    Scripted.calls.clear()
    run.return_outcome("A", "done")
    assert run.state == "B"
    assert Scripted.calls == ["run a", "teardown a", "start b", "run b"]


def test_teardown_gets_the_elapsed_time():
    run = Run.of(NESTED).step(3).return_outcome("A", "done").step(4)
    ended = []
    run.scripted("WORK/X").teardown = lambda context: ended.append(context.elapsed)
    run.return_outcome("WORK/X", "done")
    assert ended == pytest.approx([6 * PERIOD])


def test_an_event_has_time_transition_and_reason():
    run = Run.of(CHAIN).step()
    run.return_outcome("A", "done")
    (event,) = run.events
    assert (event.transition.start, event.transition.goal) == ("A", "B")
    assert event.time == 2 * PERIOD
    assert event.reason == "outcome of a"
    assert event.transition in run.machine.transitions


def test_a_strict_transition_waits_for_its_request_while_the_state_runs():
    run = Run.of(CHAIN).step().return_outcome("A", "done").return_outcome("B", "done")
    Scripted.calls.clear()
    run.step(10)
    assert run.state == "B", "it has an outcome, so there is no timeout"
    assert Scripted.calls == ["run b"] * 10
    assert run.labels == ["done", "stop"]
    assert run.machine.request("done").goal == "END"
    run.step()
    assert (run.state, run.machine.outcome, run.machine.has_failed) == ("END", "success", False)
    assert run.events[-1].reason == "requested"


def test_a_failure_replaces_a_waiting_transition():
    run = (
        Run.of(CHAIN)
        .step()
        .return_outcome("A", "done")
        .return_outcome("B", "done")
        .return_outcome("B", "slip")
    )
    assert (run.state, run.machine.outcome, run.machine.has_failed) == ("BAD", "failure", True)


def test_step_by_step_makes_successes_wait_but_not_failures():
    run = Run.of(CHAIN)
    run.machine.step_by_step = True
    run.step().return_outcome("A", "done")
    assert (run.state, run.labels) == ("A", ["done", "stop"])
    run.machine.request("done")
    assert run.step().state == "B"
    assert run.step(10).state == "A", "a timeout is a failure"
    run.return_outcome("A", "slip")
    assert run.state == "BAD"
    run.machine.request("again")
    run.step().return_outcome("A", "done")
    run.machine.step_by_step = False
    assert run.step(2).state == "B", "a waiting transition is made when the mode ends"


def test_an_unavailable_transition_is_rejected_without_a_change():
    run = Run.of(CHAIN)
    with pytest.raises(
        TransitionRejectedError, match="'stop' is not available in A; available: no"
    ):
        run.machine.request("stop")
    run.step()
    with pytest.raises(
        TransitionRejectedError, match=r"'done' is not available in A; avail.*: stop"
    ):
        run.machine.request("done")
    assert run.step(3).state == "A"
    run.machine.request("stop")
    with pytest.raises(TransitionRejectedError, match="not available: 'stop' is already requested"):
        run.machine.request("stop")
    assert run.machine.available == ()
    run.step()
    assert (run.state, run.labels) == ("BAD", ["again"])


def test_a_request_has_priority_over_an_outcome():
    run = Run.of(CHAIN).step()
    run.scripted("A").outcome = "done"
    run.step()
    run.machine.request("stop")
    assert run.step().state == "BAD"


def test_a_timeout_is_an_outcome():
    run = Run.of(CHAIN).step().return_outcome("A", "done")
    made, began = len(run.events), run.tick - 1
    while run.state == "B":
        run.step()
    assert run.tick - 1 - began == 6, "detected after 5 ticks, made in the next"
    assert run.events[made].reason == "timeout of 0.05 s"


def test_the_flat_table_has_every_transition():
    machine = Run.of(NESTED).machine
    assert machine.states == ("A", "WORK/X", "WORK/Y", "WORK/OUT", "WORK/BAD", "END")
    assert [t.id for t in machine.transitions] == list(range(1, len(machine.transitions) + 1))
    ways = {(t.start, t.label, t.goal) for t in machine.transitions}
    assert ("A", "done", "WORK/X") in ways
    assert ("WORK/OUT", "done", "END") in ways
    assert ("WORK/BAD", "broken", "A") in ways
    assert {start for start, label, _ in ways if label == "timeout"} == {
        "WORK/X", "WORK/Y", "WORK/OUT", "WORK/BAD",
    }  # fmt: skip
    assert ("WORK/X", "stop", "WORK/OUT") in ways
    assert ("WORK/X", "stop", "END") in ways, "after the timeout of WORK"
    assert ("WORK/Y", "stop", "END") in ways


def test_the_end_of_a_sub_machine_is_its_outcome():
    run = Run.of(NESTED).step().return_outcome("A", "done")
    assert (run.state, run.labels) == ("WORK/X", ["jump", "stop"])
    run.return_outcome("WORK/X", "done").return_outcome("WORK/Y", "done").step(3)
    assert (run.state, run.labels, run.machine.outcome) == ("WORK/OUT", ["done", "stop"], None)
    run.machine.request("done")
    run.step()
    assert (run.state, run.machine.outcome) == ("END", "success")
    places = [event.transition.goal for event in run.events]
    assert places == ["WORK/X", "WORK/Y", "WORK/OUT", "END"]


def test_a_failure_of_a_sub_machine_keeps_its_reason():
    run = (
        Run.of(NESTED)
        .step()
        .return_outcome("A", "done")
        .return_outcome("WORK/X", "done")
        .return_outcome("WORK/Y", "slip")
    )
    run.step()
    assert run.state == "A"
    assert [event.reason for event in run.events[-2:]] == ["outcome of y"] * 2
    assert run.return_outcome("A", "done").state == "WORK/X"


def test_a_request_goes_to_the_inner_state_first_and_then_to_the_outer_one():
    run = Run.of(NESTED).step().return_outcome("A", "done")
    run.machine.request("jump")
    assert run.step().state == "WORK/Y"
    Scripted.calls.clear()
    run.machine.request("stop")
    run.step()
    assert (run.state, Scripted.calls) == ("END", ["teardown y"])
    inner = Run.of(NESTED).step().return_outcome("A", "done")
    inner.machine.request("stop")
    assert inner.step().state == "WORK/OUT"


def test_while_a_sub_machine_ends_a_request_goes_to_the_outer_state():
    run = Run.of(NESTED).step().return_outcome("A", "done")
    while "jump" in run.labels:
        run.step()
    assert (run.state, run.labels) == ("WORK/X", ["stop"]), "the machine has a timeout"
    run.machine.request("stop")
    run.step()
    made = run.events[-1].transition
    assert (made.start, made.label, made.goal) == ("WORK/X", "stop", "END")
    assert made in run.machine.transitions


def test_a_sub_machine_has_a_timeout():
    run = (
        Run.of(NESTED)
        .step()
        .return_outcome("A", "done")
        .step(20)
        .return_outcome("WORK/X", "done")
        .step(40)
    )
    assert run.state == "END"
    assert run.events[-1].transition.start == "WORK/Y"
    assert run.events[-1].transition.label == "timeout"


@pytest.mark.parametrize(
    ("outcomes", "label", "reason"),
    [
        ([("MOVE", "done"), ("GUARD", "done")], "done", "outcome of move; outcome of guard"),
        ([("MOVE", "done"), ("MOVE", "slip")], "alarm", "outcome of move"),
        ([("GUARD", "slip")], "alarm", "outcome of guard"),
        ([("MOVE", "done")], "late", "timeout of 0.1 s"),
    ],
)
def test_parallel_states_end_by_their_joins(outcomes, label, reason):
    run = Run.of(WATCHED).step()
    assert run.state == "BOTH"
    assert run.machine.active == ("BOTH/MOVE", "BOTH/GUARD")
    for name, outcome in outcomes:
        assert run.state == "BOTH"
        run.return_outcome(f"BOTH/{name}", outcome)
    run.step(12)
    (event,) = run.events
    assert (run.state, event.transition.label, event.reason) == ("END", label, reason)
    assert Scripted.calls[-2:] == ["teardown guard", "teardown move"]


@pytest.mark.parametrize("call", ["start", "run", "teardown"])
def test_an_exception_is_raised_after_the_teardown_of_all_states(call):
    run = Run.of(WATCHED)
    run.scripted("BOTH/GUARD").fails = call
    with pytest.raises(ZeroDivisionError, match=f"in {call}"):
        run.step().return_outcome("BOTH/GUARD", "slip")
    assert sorted(call for call in Scripted.calls if "teardown" in call) == [
        "teardown guard",
        "teardown move",
    ]
    assert run.labels == []
    with pytest.raises(TransitionRejectedError, match="has failed, reset it"):
        run.machine.request("done")
    with pytest.raises(RuntimeError, match="has failed and was not reset"):
        run.step()
    run.scripted("BOTH/GUARD").fails = ""
    run.scripted("BOTH/GUARD").outcome = None
    run.controller.reset()
    assert run.step(3).state == "BOTH"


def test_an_exception_in_teardown_is_a_note_on_the_first_one():
    run = Run.of(CHAIN).step()
    state = run.scripted("A")
    state.run = lambda context: 1 / 0
    state.fails = "teardown"
    with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
        run.step()
    assert caught.value.__notes__ == ["and during teardown: ZeroDivisionError('in teardown')"]


def test_an_unknown_outcome_is_an_error():
    run = Run.of(CHAIN).step()
    run.scripted("A").outcome = "finished"
    with pytest.raises(
        StateError, match=r"A: Scripted.run returned 'finished', .* outcomes: done, s"
    ):
        run.step()


def test_settings_are_checked_and_apply_from_the_next_start():
    run = Run.of(CHAIN).step()
    run.machine.configure("A", {"speed": 0.5, "goal": [3.0, 4.0]})
    run.step()
    assert run.scripted("A").config.speed == 0.1
    for name, changes, message in (
        ("E", {}, "state 'E' not found; there are: A, B, END, BAD"),
        ("A", {"sped": 1.0}, r"A: key 'sped' not found \(did you mean 'speed'"),
        ("A", {"count": 3, "speed": -1.0}, "A: speed -1.0 is not above zero"),
        ("A", {"speed": "fast"}, "A.speed: expected a number"),
        ("END", {"speed": 1.0}, "END: it has no settings"),
    ):
        with pytest.raises(UserInputError, match=message):
            run.machine.configure(name, changes)
    config = run.machine.configs["A"]
    assert (config.speed, config.goal, config.count) == (0.5, (3.0, 4.0), 1)
    run.controller.reset()
    run.step()
    assert run.scripted("A").seen == 0.5


def test_a_reset_tears_down_the_active_state_and_returns_to_the_initial_one():
    run = Run.of(NESTED).step().return_outcome("A", "done").return_outcome("WORK/X", "done")
    Scripted.calls.clear()
    run.controller.reset()
    assert Scripted.calls == ["teardown y"]
    assert (run.state, run.labels, run.machine.outcome) == ("A", [], None)
    run.controller.reset()
    assert Scripted.calls == ["teardown y"]
    run.step()
    assert Scripted.calls[1:] == ["start a", "run a"]


OUTCOMES = ("done", "slip", None)


@st.composite
def tables(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw the content of a consistent machine."""
    names = [f"S{number}" for number in range(draw(st.integers(1, 4)))]
    states, rows = [], []
    for number, name in enumerate(names):
        goals = st.sampled_from(names[: number + 2])
        onward = names[number + 1] if number + 1 < len(names) else "END"
        inner = depth < 2 and draw(st.booleans())
        timeout = draw(st.sampled_from(["", ", timeout: 0.03"]))
        if inner:
            states.append(f"{name}: {{machine: {draw(tables(depth + 1))}{timeout}}}")
        else:
            states.append(f"{name}: {{class: Scripted, name: s{timeout}}}")
        trigger = draw(st.sampled_from(list(Trigger)[:3]))
        labels = {} if inner else {"slip": draw(goals)}
        labels |= {"timeout": draw(goals)} if timeout else {}
        arrows = [f"done: {{to: {onward}, trigger: {trigger}}}"]
        arrows += [f"{label}: {goal}" for label, goal in labels.items()]
        # Some requests have the same label in inner and outer machines.
        asked = draw(st.sampled_from([[], ["ask"], ["ask", f"ask{depth}"]]))
        arrows += [f"{label}: {{to: {draw(goals)}, trigger: request}}" for label in asked]
        rows.append(f"{name}: {{{', '.join(arrows)}}}")
    states.append("END: {outcome: done}")
    return f"{{initial: S0, states: {{{', '.join(states)}}}, transitions: {{{', '.join(rows)}}}}}"


@settings(max_examples=40)
@given(tables(), st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 3)), max_size=40))
def test_any_sequence_of_outcomes_and_requests_stays_in_the_table_and_is_reproducible(text, script):
    controller = FsmController(table(f"{{rate: 100, {text[1:]}"))
    controller.configure(ROBOT)
    machine = controller.machine

    def go() -> list[tuple[str, tuple[str, ...], str | None]]:
        trail = []
        for tick, (outcome, asked) in enumerate(script):
            for member in machine.instances.values():
                member.outcome = outcome
            available = machine.available
            assert all(t.start == machine.state and t in machine.transitions for t in available)
            assert len({t.label for t in available}) == len(available)
            if asked < len(available):
                machine.request(available[asked].label)
            before, count = machine.state, machine.log.count
            controller.step(seen(), tick * PERIOD)
            made = [event.transition for event in machine.log.since(count)]
            assert len(made) <= 1
            assert [(t.start, t.goal) for t in made] in ([], [(before, machine.state)])
            if asked < len(available):
                assert made == [available[asked]], "an accepted request is made"
            assert machine.state in machine.states
            assert machine.active == (machine.state,)
            trail.append((machine.state, tuple(t.label for t in available), machine.outcome))
        return trail

    first = go()
    controller.reset()
    assert go() == first
