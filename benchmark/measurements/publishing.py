"""Cost of stepping and publishing, with every topic at 1 kHz, including /tf."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

from benchmark.durations import Durations
from benchmark.measurements.simulator_runs import run_simulator
from benchmark.processes.child_process import simulator, subscriber
from benchmark.processes.probe import ALTERNATE
from benchmark.processes.probe_columns import BEGUN, LATE, PUBLISHED, STAMP, STEPPED
from benchmark.processes.scene_topics import EVERY_STEP_HZ, all_rates
from benchmark.report import Row, percentiles, result
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def raw(scene: str, durations: Durations) -> float:
    """Return the cost of one `mj_step` of the standing robots [µs], in the fastest of ten loops."""
    simulation = Simulation(load_scene(scene))
    model, data, step = simulation.model, simulation.data, mujoco.mj_step
    for _ in range(1000):
        simulation.step()
    costs = []
    count = durations.raw_steps // 10
    for _ in range(10):
        begun = time.perf_counter()
        for _ in range(count):
            step(model, data)
        costs.append((time.perf_counter() - begun) / count * 1e6)
    return min(costs)


def engine(durations: Durations) -> list[Row]:
    """(a) Cost of the engine alone."""
    return [result("a", "mj_step alone, in a loop", raw("humanoid", durations), "µs")]


def publishing(durations: Durations) -> list[Row]:
    """(b) Cost of the node's step beyond the engine's, (c) compared to publishing message objects.

    The steps of the node are a millisecond apart, so the processor's caches are as cold as in use,
    unlike in (a). The steps of (c) are in Python, as in a node without the compiled part, and
    alternate every 250 steps between templates and message objects.
    """
    before = raw("humanoid", durations)
    steps = run_simulator("humanoid", durations.publishing).steps
    alone = min(before, raw("humanoid", durations))
    whole, sent = _us(steps, BEGUN, PUBLISHED), _us(steps, STEPPED, PUBLISHED)
    python = run_simulator("humanoid", durations.publishing, probe=["--message-objects"]).steps
    # Simulated time 0 is the begin of the first block, with templates.
    timestep_ns = 1e9 / EVERY_STEP_HZ
    objects = np.rint(python[:, STAMP] / timestep_ns).astype(np.int64) // ALTERNATE % 2 == 1
    built = _us(python, STEPPED, PUBLISHED)
    template = float(np.median(built[~objects]))
    return [
        *percentiles("b", "step with everything published", whole, 50, 99, 99.9),
        *percentiles("b", "its part Simulation.step", _us(steps, BEGUN, STEPPED), 50),
        *percentiles("b", "its part publishing", sent, 50, 99),
        result("b", "mj_step alone, in a loop", alone, "µs"),
        result(
            "b",
            "step beyond mj_step, p50",
            float(np.median(whole)) - alone,
            "µs",
            limit="≤ 80",
            keeps=lambda us: us <= 80,
        ),
        *percentiles(
            "b", "step in Python with the same", _us(python, BEGUN, PUBLISHED)[~objects], 50
        ),
        *percentiles("c", "publishing message objects", built[objects], 50, 99),
        result(
            "c",
            "message objects over templates, p50",
            float(np.median(built[objects])) / template,
            "×",
            limit="≥ 4",
            keeps=lambda times: times >= 4,
        ),
    ]


def profile(durations: Durations) -> list[Row]:
    """Mean cost of the parts of a step; measuring adds 0.5 µs to each call."""
    spent = run_simulator("humanoid", durations.profile, probe=["--profile"]).steps
    steps = int(spent["calls"][spent["label"] == "mj_step"][0])
    us = {str(row["label"]): row["ns"] / steps / 1e3 for row in spent}
    send, publish = us["TopicPublisher.send"], us["Publishers.publish"]
    derived = us["BaseMotion.update"] + us["Tracking.update"]
    parts = {
        "mj_step, caches cold": us["mj_step"],
        "Drives.write": us["Drives.write"],
        "rest of Simulation.step": us["Simulation.step"] - us["mj_step"] - us["Drives.write"],
        "BaseMotion.update": us["BaseMotion.update"],
        "Tracking.update": us["Tracking.update"],
        "filling the messages": us["Batch.publish"] - send,
        "publishing by the middleware": send,
        "rest of Publishers.publish": publish - us["Batch.publish"] - derived,
    }
    return [result("b", f"mean of {name}", value, "µs") for name, value in parts.items()]


def unpaced(durations: Durations) -> list[Row]:
    """(d) Largest real-time factor."""
    return [
        result(
            "d",
            "largest real-time factor",
            _fastest("humanoid", durations.unpaced),
            "×",
            2,
            limit="≥ 6",
            keeps=lambda factor: factor >= 6,
        )
    ]


def paced(durations: Durations) -> list[Row]:
    """(e) Step period, CPU and latency in real time.

    Latency is from the beginning of a sample's step until a subscriber takes its message. A sample
    is the state at that time, so this is its age: it contains the engine's step, filling, the
    middleware and the wake-up of the subscriber. Both processes read the same clock.
    """
    run = run_simulator("humanoid", durations.paced)
    steps = run.steps
    duration_s = (steps[-1, BEGUN] - steps[0, BEGUN]) / 1e9
    factor = (steps[-1, STAMP] - steps[0, STAMP]) / 1e9 / duration_s
    ages = {topic: _ages(steps, rows) for topic, rows in run.arrivals.items()}
    received = float(np.mean([len(rows) / len(steps) for rows in run.arrivals.values()]))
    return [
        result(
            "e",
            f"real-time factor over {duration_s:.0f} s",
            factor,
            "×",
            6,
            limit="1 ± 0.001",
            keeps=lambda factor: abs(factor - 1) <= 0.001,
        ),
        *percentiles("e", "step period", np.diff(steps[:, BEGUN]) / 1e3, 50, 99, 99.9),
        result("e", "deadline misses", steps[-1, LATE] - steps[0, LATE], f"of {len(steps)}", 0),
        result(
            "e",
            "processor, all threads",
            100 * run.cpu,
            "% of a core",
            limit="≤ 35",
            keeps=lambda percent: percent <= 35,
        ),
        *percentiles("e", "age of joint_states when received", ages["joint_states"], 50, 99),
        *percentiles("e", "age of any message", np.concatenate(list(ages.values())), 50, 99),
        result("e", "messages received", 100 * received, "%", 2),
    ]


def memory(durations: Durations) -> list[Row]:
    """(f) Growth of resident memory in real time."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rates = all_rates(EVERY_STEP_HZ)
        with (
            subscriber("humanoid", folder, record=False),
            simulator("humanoid", folder, rates) as sim,
        ):
            sim.sleep(durations.memory_from)
            early = sim.resident_mb()
            sim.sleep(durations.memory_to - durations.memory_from)
            late = sim.resident_mb()
    return [
        result("f", f"resident memory after {durations.memory_from:.0f} s", early, "MB", 2),
        result("f", f"resident memory after {durations.memory_to:.0f} s", late, "MB", 2),
        result(
            "f", "difference", late - early, "MB", 2, limit="± 1", keeps=lambda mb: abs(mb) <= 1
        ),
    ]


def start(durations: Durations) -> list[Row]:
    """(g) Time from process start to the first joint_states in a waiting subscriber."""
    own = [_start_s(announce_often=True) for _ in range(durations.starts)]
    stock = [_start_s(announce_often=False) for _ in range(durations.starts)]
    return [
        result(
            "g",
            f"start to joint_states, median of {durations.starts}",
            float(np.median(own)),
            "s",
            2,
        ),
        result(
            "g",
            "start to joint_states, slowest",
            max(own),
            "s",
            2,
            limit="< 3",
            keeps=lambda s: s < 3,
        ),
        result("g", "same, Fast DDS announcing every 3 s, median", float(np.median(stock)), "s", 2),
        result("g", "same, Fast DDS announcing every 3 s, slowest", max(stock), "s", 2),
    ]


def zoo(durations: Durations) -> list[Row]:
    """Step cost, CPU and largest real-time factor with four robots."""
    run = run_simulator("zoo", durations.zoo)
    sizes = f"{len(run.arrivals)} topics"
    return [
        result("zoo", "mj_step alone, in a loop", raw("zoo", durations), "µs"),
        *percentiles(
            "zoo", f"step with {sizes} published", _us(run.steps, BEGUN, PUBLISHED), 50, 99
        ),
        result("zoo", "processor, all threads", 100 * run.cpu, "% of a core"),
        result("zoo", "largest real-time factor", _fastest("zoo", durations.zoo), "×", 2),
    ]


def _us(steps: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.asarray((steps[:, last] - steps[:, first]) / 1e3)


def _start_s(*, announce_often: bool) -> float:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber("humanoid", folder, record=False, announce_often=announce_often) as waiting,
            simulator("humanoid", folder, all_rates(EVERY_STEP_HZ)) as sim,
        ):
            return (int(waiting.wait_for("joint_states")) - sim.started_ns) / 1e9


def _fastest(scene: str, seconds: float) -> float:
    """Return the largest real-time factor, by the stamps and arrivals of /clock."""
    parameters = {"real_time_factor": 0.0}
    clock = run_simulator(scene, seconds, probe=None, parameters=parameters).arrivals["/clock"]
    wall, simulated = clock[-1] - clock[0]
    return float(simulated / wall)


def _ages(steps: np.ndarray, arrivals: np.ndarray) -> np.ndarray:
    """Return the age of each message when it arrived [µs]."""
    stamps = steps[:, STAMP]
    rows = np.searchsorted(stamps, arrivals[:, 1])
    known = (rows < len(stamps)) & (stamps[np.minimum(rows, len(stamps) - 1)] == arrivals[:, 1])
    return np.asarray((arrivals[known, 0] - steps[rows[known], BEGUN]) / 1e3)
