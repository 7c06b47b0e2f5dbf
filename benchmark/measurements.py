"""What it costs to simulate and to publish; every topic at 1 kHz, /tf included."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

from benchmark.plan import Plan
from benchmark.probe import ALTERNATE
from benchmark.processes import simulator, subscriber
from benchmark.report import Row, figure, percentiles
from benchmark.stations import EVERY_STEP_HZ, all_rates
from benchmark.watching import BEGUN, LATE, PUBLISHED, STAMP, STEPPED, watch
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def raw(scene: str, plan: Plan) -> float:
    """Return what one `mj_step` of the standing robots costs [µs]: the fastest of ten loops."""
    simulation = Simulation(load_scene(scene))
    model, data, step = simulation.model, simulation.data, mujoco.mj_step
    for _ in range(1000):
        simulation.step()
    costs = []
    count = plan.raw_steps // 10
    for _ in range(10):
        begun = time.perf_counter()
        for _ in range(count):
            step(model, data)
        costs.append((time.perf_counter() - begun) / count * 1e6)
    return min(costs)


def engine(plan: Plan) -> list[Row]:
    """(a) The engine alone."""
    return [figure("a", "mj_step alone, in a loop", raw("humanoid", plan), "µs")]


def publishing(plan: Plan) -> list[Row]:
    """(b) The node's whole step beyond the engine's, and (c) its publishing beside the naive one.

    The running node changes every 250 steps between the two ways to publish. Its steps are a
    millisecond apart, so that the processor's caches are as cold as in use, unlike those of (a).
    """
    before = raw("humanoid", plan)
    steps = watch("humanoid", plan.publishing, probe=["--naive"]).steps
    alone = min(before, raw("humanoid", plan))
    # The simulated time began at 0 with the first block, of templates.
    timestep_ns = 1e9 / EVERY_STEP_HZ
    naive = np.rint(steps[:, STAMP] / timestep_ns).astype(np.int64) // ALTERNATE % 2 == 1
    whole, sent = _us(steps, BEGUN, PUBLISHED)[~naive], _us(steps, STEPPED, PUBLISHED)
    template, built = float(np.median(sent[~naive])), float(np.median(sent[naive]))
    return [
        *percentiles("b", "step with everything published", whole, 50, 99, 99.9),
        *percentiles("b", "its part Simulation.step", _us(steps, BEGUN, STEPPED)[~naive], 50),
        *percentiles("b", "its part publishing", sent[~naive], 50, 99),
        figure("b", "mj_step alone, in a loop", alone, "µs"),
        figure(
            "b",
            "step beyond mj_step, p50",
            float(np.median(whole)) - alone,
            "µs",
            limit="≤ 80",
            keeps=lambda us: us <= 80,
        ),
        *percentiles("c", "publishing naively built messages", sent[naive], 50, 99),
        figure(
            "c",
            "naive over templates, p50",
            built / template,
            "×",
            limit="≥ 4",
            keeps=lambda times: times >= 4,
        ),
    ]


def profile(plan: Plan) -> list[Row]:
    """Where a step's time goes, on average; measuring adds half a microsecond to each call."""
    spent = watch("humanoid", plan.profile, probe=["--profile"]).steps
    steps = int(spent["calls"][spent["label"] == "mj_step"][0])
    us = {str(row["label"]): row["ns"] / steps / 1e3 for row in spent}
    send, publish = us["publisher.publish"], us["Publishers.publish"]
    derived = us["BaseMotion.update"] + us["Tracking.update"]
    parts = {
        "mj_step, caches cold": us["mj_step"],
        "Drives.write": us["Drives.write"],
        "rest of Simulation.step": us["Simulation.step"] - us["mj_step"] - us["Drives.write"],
        "BaseMotion.update": us["BaseMotion.update"],
        "Tracking.update": us["Tracking.update"],
        "filling the messages": us["Batch.publish"] - send,
        "handing them to the middleware": send,
        "rest of Publishers.publish": publish - us["Batch.publish"] - derived,
    }
    return [figure("b", f"mean of {name}", value, "µs") for name, value in parts.items()]


def unpaced(plan: Plan) -> list[Row]:
    """(d) As fast as possible."""
    return [
        figure(
            "d",
            "largest real-time factor",
            _fastest("humanoid", plan.unpaced),
            "×",
            2,
            limit="≥ 6",
            keeps=lambda factor: factor >= 6,
        )
    ]


def paced(plan: Plan) -> list[Row]:
    """(e) In real time. Latency is from the moment the sample's step begins until it is taken.

    A sample is the state at its step's beginning, so the latency is its age: it contains the
    engine's step, filling, the middleware and the wake-up of the subscriber. Both processes read
    one clock.
    """
    seen = watch("humanoid", plan.paced)
    steps = seen.steps
    duration_s = (steps[-1, BEGUN] - steps[0, BEGUN]) / 1e9
    factor = (steps[-1, STAMP] - steps[0, STAMP]) / 1e9 / duration_s
    ages = {topic: _ages(steps, rows) for topic, rows in seen.arrivals.items()}
    received = float(np.mean([len(rows) / len(steps) for rows in seen.arrivals.values()]))
    return [
        figure(
            "e",
            f"real-time factor over {duration_s:.0f} s",
            factor,
            "×",
            6,
            limit="1 ± 0.001",
            keeps=lambda factor: abs(factor - 1) <= 0.001,
        ),
        *percentiles("e", "step period", np.diff(steps[:, BEGUN]) / 1e3, 50, 99, 99.9),
        figure("e", "deadline misses", steps[-1, LATE] - steps[0, LATE], f"of {len(steps)}", 0),
        figure(
            "e",
            "processor, all threads",
            100 * seen.cpu,
            "% of a core",
            limit="≤ 35",
            keeps=lambda percent: percent <= 35,
        ),
        *percentiles("e", "age of joint_states when received", ages["joint_states"], 50, 99),
        *percentiles("e", "age of any message", np.concatenate(list(ages.values())), 50, 99),
        figure("e", "messages received", 100 * received, "%", 2),
    ]


def memory(plan: Plan) -> list[Row]:
    """(f) Resident memory in real time, early and late."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rates = all_rates(EVERY_STEP_HZ)
        with (
            subscriber("humanoid", folder, record=False),
            simulator("humanoid", folder, rates) as sim,
        ):
            sim.sleep(plan.memory_from)
            early = sim.resident_mb()
            sim.sleep(plan.memory_to - plan.memory_from)
            late = sim.resident_mb()
    return [
        figure("f", f"resident memory after {plan.memory_from:.0f} s", early, "MB", 2),
        figure("f", f"resident memory after {plan.memory_to:.0f} s", late, "MB", 2),
        figure(
            "f", "difference", late - early, "MB", 2, limit="± 1", keeps=lambda mb: abs(mb) <= 1
        ),
    ]


def start(plan: Plan) -> list[Row]:
    """(g) From starting the process to the first joint_states in a subscriber that waits for it."""
    own = [_start_s(announce_often=True) for _ in range(plan.starts)]
    stock = [_start_s(announce_often=False) for _ in range(plan.starts)]
    return [
        figure(
            "g", f"start to joint_states, median of {plan.starts}", float(np.median(own)), "s", 2
        ),
        figure(
            "g",
            "start to joint_states, slowest",
            max(own),
            "s",
            2,
            limit="< 3",
            keeps=lambda s: s < 3,
        ),
        figure("g", "same, Fast DDS announcing every 3 s, median", float(np.median(stock)), "s", 2),
        figure("g", "same, Fast DDS announcing every 3 s, slowest", max(stock), "s", 2),
    ]


def zoo(plan: Plan) -> list[Row]:
    """The scene with four robots, for information."""
    seen = watch("zoo", plan.zoo)
    sizes = f"{len(seen.arrivals)} topics"
    return [
        figure("zoo", "mj_step alone, in a loop", raw("zoo", plan), "µs"),
        *percentiles(
            "zoo", f"step with {sizes} published", _us(seen.steps, BEGUN, PUBLISHED), 50, 99
        ),
        figure("zoo", "processor, all threads", 100 * seen.cpu, "% of a core"),
        figure("zoo", "largest real-time factor", _fastest("zoo", plan.zoo), "×", 2),
    ]


SENSING: dict[str, Callable[[Plan], list[Row]]] = {
    "a": engine,
    "b": publishing,
    "profile": profile,
    "d": unpaced,
    "e": paced,
    "f": memory,
    "g": start,
    "zoo": zoo,
}
"""Measurements by key; (c) is part of (b)."""


def _us(steps: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.asarray((steps[:, last] - steps[:, first]) / 1e3)


def _start_s(*, announce_often: bool) -> float:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber("humanoid", folder, record=False, announce_often=announce_often) as listener,
            simulator("humanoid", folder, all_rates(EVERY_STEP_HZ)) as sim,
        ):
            return (int(listener.wait_for("joint_states")) - sim.started_ns) / 1e9


def _fastest(scene: str, seconds: float) -> float:
    """Return simulated over wall time as /clock shows it, asked to run as fast as possible."""
    parameters = {"real_time_factor": 0.0}
    clock = watch(scene, seconds, probe=None, parameters=parameters).arrivals["/clock"]
    wall, simulated = clock[-1] - clock[0]
    return float(simulated / wall)


def _ages(steps: np.ndarray, arrivals: np.ndarray) -> np.ndarray:
    """Return how old each message was when it arrived [µs]."""
    stamps = steps[:, STAMP]
    rows = np.searchsorted(stamps, arrivals[:, 1])
    known = (rows < len(stamps)) & (stamps[np.minimum(rows, len(stamps) - 1)] == arrivals[:, 1])
    return np.asarray((arrivals[known, 0] - steps[rows[known], BEGUN]) / 1e3)
