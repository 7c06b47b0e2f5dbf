"""The measurements: each returns its rows. All publish every topic at 1 kHz, /tf included."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

from benchmark.probe import ALTERNATE
from benchmark.processes import simulator, subscriber
from benchmark.report import Row, figure
from benchmark.stations import EVERY_STEP_HZ, all_rates
from benchmark.subscriber import load
from mujoco_ros.model.scene import load_scene
from mujoco_ros.sim.simulation import Simulation

_SETTLE_S = 3.0  # discovery, first contacts, caches
_BEGUN, _STEPPED, _PUBLISHED, _STAMP, _LATE = range(5)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long each measurement takes, in seconds unless said otherwise."""

    raw_steps: int = 20_000
    publishing: float = 30.0
    profile: float = 15.0
    unpaced: float = 15.0
    paced: float = 60.0
    memory_from: float = 60.0
    memory_to: float = 600.0
    starts: int = 5
    zoo: float = 15.0


FULL = Plan()
QUICK = Plan(
    raw_steps=5_000,
    publishing=8.0,
    profile=4.0,
    unpaced=5.0,
    paced=10.0,
    memory_from=5.0,
    memory_to=15.0,
    starts=2,
    zoo=4.0,
)


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What was seen of a running simulator, without its first seconds.

    Attributes:
        steps: Rows as the probe notes them; for its other modes, what they note.
        arrivals: (arrival, stamp) of every message by topic [ns].
        cpu: Processor time over wall time.
    """

    steps: np.ndarray
    arrivals: dict[str, np.ndarray]
    cpu: float


def watch(
    scene: str,
    seconds: float,
    *,
    probe: Sequence[str] | None = (),
    parameters: Mapping[str, object] | None = None,
) -> Watched:
    """Run the simulator and a subscriber of every topic for `seconds`."""
    settings = {**all_rates(EVERY_STEP_HZ), **(parameters or {})}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber(scene, folder, record=True),
            simulator(scene, folder, settings, probe) as sim,
        ):
            sim.sleep(_SETTLE_S)
            begun, cpu = time.monotonic(), sim.cpu_s()
            sim.sleep(seconds)
            cpu = (sim.cpu_s() - cpu) / (time.monotonic() - begun)
        arrivals = load(folder / "arrivals.npz")
        steps = np.load(folder / "steps.npy") if probe is not None else np.zeros((0, 5), np.int64)
    settled = int(begun * 1e9)
    if steps.dtype.names is None:
        steps = steps[steps[:, _BEGUN] >= settled]
    arrivals = {topic: rows[rows[:, 0] >= settled] for topic, rows in arrivals.items()}
    silent = [topic for topic, rows in arrivals.items() if not len(rows)]
    if silent:
        raise RuntimeError(f"nothing arrived on {', '.join(silent)}")
    return Watched(steps=steps, arrivals=arrivals, cpu=cpu)


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
    naive = np.rint(steps[:, _STAMP] / timestep_ns).astype(np.int64) // ALTERNATE % 2 == 1
    whole, sent = _us(steps, _BEGUN, _PUBLISHED)[~naive], _us(steps, _STEPPED, _PUBLISHED)
    template, built = float(np.median(sent[~naive])), float(np.median(sent[naive]))
    return [
        *_percentiles("b", "step with everything published", whole, 50, 99, 99.9),
        *_percentiles("b", "its part Simulation.step", _us(steps, _BEGUN, _STEPPED)[~naive], 50),
        *_percentiles("b", "its part publishing", sent[~naive], 50, 99),
        figure("b", "mj_step alone, in a loop", alone, "µs"),
        figure(
            "b",
            "step beyond mj_step, p50",
            float(np.median(whole)) - alone,
            "µs",
            limit="≤ 80",
            keeps=lambda us: us <= 80,
        ),
        *_percentiles("c", "publishing naively built messages", sent[naive], 50, 99),
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
    parts = {
        "mj_step, caches cold": us["mj_step"],
        "Drives.write": us["Drives.write"],
        "rest of Simulation.step": us["Simulation.step"] - us["mj_step"] - us["Drives.write"],
        "BaseMotion.update": us["BaseMotion.update"],
        "filling the messages": us["Batch.publish"] - send,
        "handing them to the middleware": send,
        "rest of Publishers.publish": publish - us["Batch.publish"] - us["BaseMotion.update"],
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
    duration_s = (steps[-1, _BEGUN] - steps[0, _BEGUN]) / 1e9
    factor = (steps[-1, _STAMP] - steps[0, _STAMP]) / 1e9 / duration_s
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
        *_percentiles("e", "step period", np.diff(steps[:, _BEGUN]) / 1e3, 50, 99, 99.9),
        figure("e", "deadline misses", steps[-1, _LATE] - steps[0, _LATE], f"of {len(steps)}", 0),
        figure(
            "e",
            "processor, all threads",
            100 * seen.cpu,
            "% of a core",
            limit="≤ 35",
            keeps=lambda percent: percent <= 35,
        ),
        *_percentiles("e", "age of joint_states when received", ages["joint_states"], 50, 99),
        *_percentiles("e", "age of any message", np.concatenate(list(ages.values())), 50, 99),
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
        *_percentiles(
            "zoo", f"step with {sizes} published", _us(seen.steps, _BEGUN, _PUBLISHED), 50, 99
        ),
        figure("zoo", "processor, all threads", 100 * seen.cpu, "% of a core"),
        figure("zoo", "largest real-time factor", _fastest("zoo", plan.zoo), "×", 2),
    ]


MEASUREMENTS: dict[str, Callable[[Plan], list[Row]]] = {
    "a": engine,
    "b": publishing,
    "profile": profile,
    "d": unpaced,
    "e": paced,
    "f": memory,
    "g": start,
    "zoo": zoo,
}
"""What ``--only`` chooses from; (c) is measured together with (b)."""


def _us(steps: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.asarray((steps[:, last] - steps[:, first]) / 1e3)


def _percentiles(
    key: str, quantity: str, values: np.ndarray, *percents: float, unit: str = "µs"
) -> list[Row]:
    return [
        figure(key, f"{quantity}, p{percent:g}", float(np.percentile(values, percent)), unit)
        for percent in percents
    ]


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
    stamps = steps[:, _STAMP]
    rows = np.searchsorted(stamps, arrivals[:, 1])
    known = (rows < len(stamps)) & (stamps[np.minimum(rows, len(stamps) - 1)] == arrivals[:, 1])
    return np.asarray((arrivals[known, 0] - steps[rows[known], _BEGUN]) / 1e3)
