"""Nothing that a state does stops the physics thread."""

import re
import threading
import time

import numpy as np
import pytest
from faulty_states import Add, faulty

from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread, StepListener
from mujoco_ros.sim.stepping.real_time import Pacer


class Hosting(StepListener):
    """Runs a host in a physics thread."""

    def __init__(self, host: ControllerHost) -> None:
        self.host = host
        self.steps = 0

    def wait(self, now: float) -> float:
        return self.host.wait(now)

    def after_step(self) -> None:
        self.host.after_step()
        self.steps += 1


@pytest.fixture
def live(pendulums):
    """A function that runs a faulty controller in a physics thread."""
    threads, ended = [], []

    def run(*given, limit=0.2, **options):
        simulation = pendulums()
        host = ControllerHost(simulation, faulty(*given, **options))
        host.supervised.time_limit.limit_s = limit
        hosting = Hosting(host)
        pacer = Pacer(0.001, factor=0.0)
        thread = PhysicsThread(simulation, pacer, [hosting], on_end=ended.append)
        threads.append(thread)
        thread.start()
        return hosting, simulation, ended

    yield run
    for thread in threads:
        thread.stop(5.0)


def until(condition, timeout=60.0):
    end = time.monotonic() + timeout
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


def continues(hosting, ended):
    count = hosting.steps
    return until(lambda: hosting.steps > count + 20) and not ended


@pytest.mark.parametrize(
    ("how", "method", "reason"),
    [
        ("exit", "start", r"it raised SystemExit\(3\)"),
        ("exit", "teardown", r"it raised SystemExit\(3\)"),
        ("exit", "run", r"it raised SystemExit\(3\)"),
        ("interrupt", "run", r"it raised KeyboardInterrupt\(\)"),
        ("generator", "run", r"it raised GeneratorExit\(\)"),
        ("hostile", "run", "a HostileError"),
    ],
)
def test_an_exception_of_any_kind_fails_the_state_only(live, how, method, reason):
    hosting, _, ended = live(how, method)
    supervised = hosting.host.supervised
    assert until(lambda: supervised.error)
    assert re.search(
        rf"state 'BAD' \(Fault\.{method}, faulty_states\.py:\d+\): {reason}", supervised.error
    )
    assert continues(hosting, ended)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("await a number", "context.awaited contains a int; it takes futures"),
        ("await a text", "context.awaited contains a str"),
        ("await nothing", "'NoneType' object is not iterable|assign"),
        ("no references", "context.references is set to a ndarray, not to References"),
        ("short q", r"references.q is set to an array of shape \(2,\), not \(3,\)"),
        ("text as q", "references.q is set to str, not to numbers"),
        ("short values", r"references.values is set to an array of shape \(3, 2\), not \(3, 3\)"),
        ("reshape", r"references.q was changed to shape \(3, 1\)"),
        ("read-only", "references.values was made read-only"),
        ("reason", "context.reason is set to a ndarray, not to a text"),
        (
            "outcome",
            r"Fault.run returned array\(\[0., 0.\]\), which is not one of its outcomes: done",
        ),
        ("time", ""),
    ],
)
def test_values_of_wrong_types_fail_the_state_that_wrote_them(live, how, reason):
    hosting, simulation, ended = live(how)
    supervised = hosting.host.supervised
    assert until(lambda: supervised.error)
    assert re.search(reason, supervised.error)
    if reason:
        assert "state 'BAD' (Fault.run" in supervised.error
    assert continues(hosting, ended)
    simulation.commands.submit(simulation.reset).result(5.0)
    assert until(lambda: supervised.state == "BAD" or supervised.error), "a reset starts it again"


@pytest.mark.parametrize("how", ["loop", "swallow"])
@pytest.mark.parametrize("method", ["start", "run", "teardown"])
def test_an_endless_loop_is_interrupted_and_the_joints_hold(live, caplog, how, method):
    hosting, simulation, ended = live(how, method)
    supervised = hosting.host.supervised
    assert until(lambda: supervised.error)
    assert re.search(
        rf"state 'BAD' \(Fault.{method}, faulty_states.py:\d+\): it did not return within 0.2 s",
        supervised.error,
    )
    assert re.search(
        rf"'faulty': state 'BAD' \(Fault.{method}, faulty_states.py:\d+\) does not", caplog.text
    )
    assert continues(hosting, ended)
    assert simulation.references.q[0] == pytest.approx(0.2 if method != "start" else 0.0, abs=0.21)
    held = simulation.references.values.copy()
    assert continues(hosting, ended)
    assert np.array_equal(simulation.references.values, held)


def test_a_loop_during_a_reset_does_not_stop_the_physics(live):
    hosting, simulation, ended = live("loop", "teardown", duration=100.0)
    assert until(lambda: hosting.host.ticks > 3)
    simulation.commands.submit(simulation.reset).result(10.0)
    assert "did not return" in hosting.host.supervised.error
    assert continues(hosting, ended)


def test_the_limit_changes_nothing_while_no_call_exceeds_it(pendulums):
    states = []
    for limit in (0.0, 0.5):
        simulation = pendulums()
        host = ControllerHost(simulation, faulty("sleep", duration=0.05))
        host.supervised.time_limit.limit_s = limit
        for _ in range(200):
            assert host.step()
        assert not host.supervised.error
        states.append((simulation.data.qpos.tobytes(), simulation.references.values.tobytes()))
    assert states[0] == states[1]


def test_keyboard_interrupts_of_the_main_thread_still_end_a_run(pendulums):
    assert threading.current_thread() is threading.main_thread()
    host = ControllerHost(pendulums(), faulty("interrupt"))
    with pytest.raises(KeyboardInterrupt):
        all(host.step() for _ in range(100))


def test_nan_of_a_commanded_joint_is_reported_once_and_not_inherited(pendulums, caplog):
    simulation = pendulums()
    host = ControllerHost(simulation, faulty("nan"))
    for _ in range(80):
        assert host.step()
    assert host.supervised.state == "NEXT"
    lines = [it.message for it in caplog.records if "NaN" in it.message]
    assert lines == [
        "controller 'faulty': state 'BAD': the position of joint 'a' became NaN after it was "
        "commanded; it keeps its last value"
    ]
    assert host.supervised.references.became_nan == {"a": "BAD"}
    state = host.supervised.machine.instances["NEXT"]
    assert isinstance(state, Add)
    assert np.isfinite(state.seen).all()
    assert np.isfinite(simulation.references.values).all()


def test_nan_of_a_commanded_joint_is_an_error_of_a_strict_controller(pendulums):
    host = ControllerHost(pendulums(), faulty("nan", extra="strict: true"))
    for _ in range(80):
        assert host.step()
    assert host.supervised.error == (
        "state 'BAD': the position of joint 'a' became NaN after it was commanded"
    )


def test_references_may_be_assigned(pendulums):
    host = ControllerHost(pendulums(), faulty("nan"))
    references = None
    host.step()
    context = host.supervised.controller._context
    references = context.references
    context.references.q = [0.1, 0.2, 0.3]
    assert references.values[0].tolist() == [0.1, 0.2, 0.3]
    context.awaited = []
    assert context.awaited is host.supervised.controller.awaited
