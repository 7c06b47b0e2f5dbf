"""Compiled steps of a simulation, without publishers."""

import gc
import sys
from time import perf_counter
from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.compiled_steps import CompiledSteps, RunCells, StepOutcome
from mujoco_ros.sim.stepping.real_time import Histogram, Pacer


def compiled_simulation(scene: str = "arm") -> Simulation:
    simulation = Simulation(load_scene(scene))
    if simulation.compiled is None:
        pytest.skip("the native part is not compiled: no C compiler")
    return simulation


def test_warnings_belong_to_the_simulation_whose_hook_steps_another_one() -> None:
    outer, inner = compiled_simulation(), compiled_simulation()
    other = inner.model._address

    def control(model: Any, _data: Any) -> None:
        if model._address != other:
            inner.step()

    mujoco.set_mjcb_control(control)
    try:
        outer.data.qfrc_applied[0] = 1e300
        outer.step()
    finally:
        mujoco.set_mjcb_control(None)
    assert [text.split(" at DOF")[0] for text in outer.engine_messages] == [
        "Nan, Inf or huge value in QACC"
    ]
    assert not inner.engine_messages


def run(simulation: Simulation, pace: np.ndarray, steps: int, trace: np.ndarray) -> np.ndarray:
    """Take compiled steps; return the counts of their periods."""
    periods, costs, attention = Histogram(), Histogram(), np.zeros(1, dtype=np.int64)
    cells = RunCells(pace, attention, periods.counts, costs.counts, trace)
    compiled = simulation.compiled
    assert isinstance(compiled, CompiledSteps)
    values, taken = simulation.references.values, 0
    while taken < steps:  # a run ends after 20 ms, as of a busy machine
        outcome, more = compiled.run(values, steps - taken, cells, ramps=False)
        assert outcome == StepOutcome.TAKEN
        taken += more
    return periods.counts


@pytest.mark.parametrize("lag", [0.0, 0.0005, 0.0015, 0.03, 0.4])
@pytest.mark.parametrize("factor", [0.5, 1.0, 0.0])
def test_pace_is_as_of_steps_in_python(lag: float, factor: float) -> None:
    simulation, pacer = compiled_simulation(), Pacer(0.001, factor=factor)
    pacer.started(perf_counter() - lag)
    numbers = pacer.numbers()
    pace = np.array([numbers[0] - numbers[1], *numbers[1:], 0.0])  # due at once
    pacer.take_numbers(pace[:-1])
    run(simulation, pace, 1, np.zeros(1, dtype=np.int64))
    pacer.started(float(pace[-1]))
    np.testing.assert_array_equal(pace[:-1], pacer.numbers())
    assert pacer.late_steps >= (factor * lag >= 0.001)


def test_steps_wait_for_their_times_and_are_traced() -> None:
    simulation, (due, *others) = compiled_simulation(), Pacer(0.001, factor=0.25).numbers()
    trace = np.zeros(1 + 6 * 3, dtype=np.int64)
    periods = run(simulation, np.array([due, *others, perf_counter()]), 4, trace)
    assert trace[0] == 3  # there is no room for more
    begun, stepped, published, stamp, _, shared = trace[1:].reshape(3, 6).T
    assert (np.stack([begun, stepped, published]) <= np.stack([stepped, published, shared])).all()
    assert (begun - begun[0] >= [0, 3_999_999, 7_999_999]).all()
    assert stamp.tolist() == [0, 1_000_000, 2_000_000]
    assert periods.sum() == 4


def test_ten_thousand_steps_leave_no_memory_and_collect_no_garbage() -> None:
    simulation = compiled_simulation()
    pace = np.array([*Pacer(0.001, factor=0.0).numbers(), 0.0])
    counts = np.zeros((2, 8), dtype=np.int64)
    cells = RunCells(pace, np.zeros(1, dtype=np.int64), *counts)
    compiled, values = simulation.compiled, simulation.references.values
    assert isinstance(compiled, CompiledSteps)
    compiled.run(values, 10, cells, ramps=True)
    left = []
    for _ in range(3):  # threads of earlier tests may allocate meanwhile
        collected = [each["collections"] for each in gc.get_stats()]
        steps, blocks = 0, sys.getallocatedblocks()
        while steps < 10_000:
            steps += compiled.run(values, 1000, cells, ramps=True)[1]
        left.append(sys.getallocatedblocks() - blocks)
        assert [each["collections"] for each in gc.get_stats()] == collected
    assert min(left) <= 4  # the numbers of this test


def test_an_error_of_the_engine_is_raised_and_steps_continue_after_it() -> None:
    simulation = compiled_simulation()
    simulation.model.opt.integrator = 99
    with pytest.raises(mujoco.FatalError) as expected:
        mujoco.mj_step(simulation.model, mujoco.MjData(simulation.model))
    for _ in range(2):
        with pytest.raises(mujoco.FatalError) as raised:
            simulation.step()
        assert str(raised.value) == str(expected.value)
    simulation.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    simulation.reset()
    assert simulation.step()
