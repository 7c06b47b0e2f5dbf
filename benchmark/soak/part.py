"""One part of a long run: the simulator with everything subscribed, sampled."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmark.browser import browser, free_port, opened
from benchmark.machine import load_average
from benchmark.measurements.cameras_and_viewer import CAMERAS, SCENE
from benchmark.processes.child_process import Process, environment, running, simulator, subscriber
from benchmark.processes.scene_topics import EVERY_STEP_HZ, all_rates
from benchmark.processes.simulator_client import SIMULATOR, SimulatorClient
from benchmark.soak.samples import Sample, SampleFile

_CONTROLLER = "stand"
_SETTLE_S = 10.0
_WAIT_S = 300.0


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a part runs.

    Attributes:
        seconds: Its duration, in simulated time if `fastest`.
        every: Wall time between two samples [s].
        fastest: Whether to run as fast as possible, without cameras and page, which would have no
            processor.
        page: Whether to open the viewer's page, if there is a browser.
    """

    seconds: float
    every: float
    fastest: bool = False
    page: bool = True


def run(part: Part, file: Path, show: Callable[[Sample], object]) -> None:
    """Run a part, write its samples to a new file, and `show` each of them.

    Raises:
        OSError: The file exists, or cannot be written.
        RuntimeError: A process ended.
    """
    samples = SampleFile(file)
    try:
        with _running(part) as (sim, client):
            sampler = _Sampler(sim, client)
            begun = None
            while True:
                sample = sampler.sample()
                samples.add(sample)
                show(sample)
                now = sample.simulated if part.fastest else sample.wall
                begun = now if begun is None else begun
                if now - begun >= part.seconds:
                    return
                sim.sleep(part.every)
    finally:
        samples.close()


@contextmanager
def _running(part: Part) -> Iterator[tuple[Process, SimulatorClient]]:
    port = free_port()
    parameters = {**all_rates(EVERY_STEP_HZ), "controller": _CONTROLLER}
    if part.fastest:
        parameters["real_time_factor"] = "0.0"
    else:
        parameters |= {"cameras": "true", "viewer": "web", "viewer_port": port}
    with TemporaryDirectory() as name, ExitStack() as processes:
        folder = Path(name)
        processes.enter_context(subscriber(SCENE, folder, record=False))
        sim = processes.enter_context(simulator(SCENE, folder, parameters))
        if not part.fastest:
            arguments = [str(folder / "images.npz"), *CAMERAS]
            images = Process("benchmark.processes.image_subscriber", arguments, folder / "images")
            processes.enter_context(running(images))
            if part.page and browser() is not None:
                processes.enter_context(opened(port, idle=True))
        client = SimulatorClient(int(environment()["ROS_DOMAIN_ID"]))
        processes.callback(client.close)
        client.until(lambda: "real time" in client.report, _WAIT_S)
        sim.sleep(_SETTLE_S)
        yield sim, client


class _Sampler:
    """Reads reports and /proc."""

    def __init__(self, sim: Process, client: SimulatorClient) -> None:
        self._pid, self._sim, self._client = sim.pid, sim, client
        self._begun = time.monotonic()

    def sample(self) -> Sample:
        """Return a sample of the newest reports."""
        rows = self._client.reports[SIMULATOR]
        real_time, children = rows["real time"], rows.get("child processes", {})
        queue, drops = _udp(self._pid)
        return Sample(
            wall=time.monotonic() - self._begun,
            simulated=float(real_time["simulated time [s]"]),
            dropped=float(real_time["time dropped in total [s]"]),
            late=float(real_time["deadline misses in total"]),
            steps=float(real_time["steps"]),
            cost=float(real_time["step cost p99 [us]"]),
            lost=sum(float(count) for count in rows.get("middleware", {}).values()),
            commands=float(real_time["commands waiting at most"]),
            udp_queue=queue,
            udp_drops=drops,
            threads=len(os.listdir(f"/proc/{self._pid}/task")),
            files=len(os.listdir(f"/proc/{self._pid}/fd")),
            simulator=self._sim.resident_mb(),
            cameras=_child_mb(children.get("cameras process", "none")),
            viewer=_child_mb(children.get("viewer process", "none")),
            restarts=sum(float(n) for key, n in children.items() if key.endswith(" restarts")),
            load=load_average(),
        )


def _child_mb(pid: str) -> float:
    """Return the resident memory of a process [MB]; 0 if there is none."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _udp(pid: int) -> tuple[float, float]:
    """Return the bytes that wait in the UDP sockets of a process, and the dropped datagrams.

    proc(5): the fields of /proc/net/udp are tx_queue:rx_queue (5th), inode (10th) and drops (last).
    """
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(path)
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    waiting, drops = 0, 0
    for table in ("udp", "udp6"):
        path = Path("/proc/net", table)
        for line in path.read_text(encoding="ascii").splitlines()[1:] if path.exists() else ():
            words = line.split()
            if words[9] in inodes:
                waiting += int(words[4].partition(":")[2], 16)
                drops += int(words[12])
    return float(waiting), float(drops)
