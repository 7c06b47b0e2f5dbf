"""Ticks of a controller, recorded in the process that runs it: hosted, or a node in lockstep."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from controller_process import ControllerProcess
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation
from simulators import WAIT_LIMIT_S, Simulator, SimulatorLauncher
from std_msgs.msg import Header

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.runtime import supervisor
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.conversions import nanoseconds

_RECORDER = Path(__file__).with_name("tick_recorder")
_WAIT_LIMIT_S = 6 * WAIT_LIMIT_S
"""A planner and a renderer run in processes beside the simulator and the controller."""
BEFORE_RESET = 50
"""Ticks that are returned from before a reset."""
Ticks = list[dict[str, Any]]
"""Fingerprints by name, of each tick."""


class TickRecorder:
    """Records the first ticks of controllers in the scene of a simulator."""

    def __init__(
        self,
        start: SimulatorLauncher,
        folder: Path,
        site: Path | None = None,
        *,
        reset: bool = False,
    ) -> None:
        """Record into files of a folder.

        Args:
            start: Starts the simulators.
            folder: The folder.
            site: A folder with further packages.
            reset: Whether to reset the simulation after some ticks, and to return those after it
                too.

        Attributes:
            reset_times: The times after the resets [s].
        """
        self._start, self._folder, self._resets = start, folder, reset
        self.reset_times: list[float] = []
        self._path = os.pathsep.join(map(str, filter(None, (_RECORDER, site))))

    def hosted(self, controller: str, scene: str, ticks: int, **parameters: Any) -> Ticks:
        """Return the ticks of a controller that a simulator hosts."""
        file = self._folder / "hosted.jsonl"
        with _environment(PYTHONPATH=self._path, MUJOCO_ROS_TICKS=str(file)):
            simulator = self._start.simulator(
                fresh_interpreter=True,
                scene=scene,
                controller=controller,
                real_time_factor=0.0,
                **parameters,
            )
        found = self._wait(
            file, ticks, simulator, lambda: simulator.process.poll() is None, lambda: simulator.log
        )
        simulator.stop()
        return found

    def node(
        self, controller: str, scene: str, ticks: int, rate: float, **parameters: Any
    ) -> Ticks:
        """Return the ticks of a controller node in lockstep with a simulator."""
        file = self._folder / "node.jsonl"
        with _environment(PYTHONPATH=self._path):
            simulator = self._start.simulator(
                scene=scene,
                cameras="true",
                mode="lockstep",
                lockstep_sources=f"joint_commands@{rate:g}",
                real_time_factor=0.0,
                **parameters,
            )
        simulator.environment["MUJOCO_ROS_TICKS"] = str(file)
        log = file.with_suffix(".log")
        node = ControllerProcess(log, simulator, controller, scene=scene, lockstep=True)
        try:
            found = self._wait(
                file, ticks, simulator, lambda: node.process.poll() is None, lambda: node.log
            )
        finally:
            node.close()
        simulator.stop()
        return found

    def _wait(
        self,
        file: Path,
        ticks: int,
        simulator: Simulator,
        runs: Callable[[], bool],
        log: Callable[[], str],
    ) -> Ticks:
        """Return the first ticks of a file, and those after a reset, when it has them."""
        deadline = time.monotonic() + _WAIT_LIMIT_S
        is_reset = False
        while True:
            lines = file.read_text().splitlines() if file.exists() else []
            found = [json.loads(line) for line in lines[:-1]]  # the last one may be incomplete
            if self._resets and not is_reset and len(found) >= BEFORE_RESET:
                self._reset(simulator)
                is_reset = True
            starts = [number for number, tick in enumerate(found) if tick["number"] == 0]
            first = starts[-1] if starts else 0
            if len(starts) == 1 + self._resets and len(found) - first >= ticks:
                return found[: BEFORE_RESET if first else 0] + found[first : first + ticks]
            assert runs(), f"the process ended early:\n{log()}"
            assert time.monotonic() < deadline, f"{len(lines)} of {ticks} ticks:\n{log()}"
            time.sleep(0.05)

    def _reset(self, simulator: Simulator) -> None:
        listener = self._start.listener(simulator)
        resets = listener.record(Header, "/mujoco/reset_event", reliable=True)
        assert listener.spin_until(
            lambda: listener.node.count_publishers("/mujoco/reset_event") > 0
        )
        client = listener.node.create_client(ResetSimulation, "/mujoco/reset_simulation")
        assert listener.spin_until(client.service_is_ready)
        response = listener.result(client.call_async(ResetSimulation.Request()))
        assert response.result.result == Result.RESULT_OK
        assert listener.spin_until(lambda: len(resets) > 0)
        self.reset_times += [1e-9 * nanoseconds(event.stamp) for event in resets.messages]


def record_alone(
    controller: str, scene: str, ticks: int, folder: Path, reset_time: float | None = None
) -> Ticks:
    """Return the ticks of a controller that this process hosts.

    Without a simulator and a node, so that a reset is at an exact time.

    Args:
        controller: Name or file of the controller.
        scene: Name of the scene.
        ticks: Number of ticks, after the reset if there is one.
        folder: Where the ticks are recorded.
        reset_time: Time of a reset that continues the clock [s].
    """
    file = folder / "alone.jsonl"
    specification = spec_from_file_location("tick_recorder", _RECORDER / "sitecustomize.py")
    assert specification is not None
    assert specification.loader is not None
    recorder = module_from_spec(specification)
    specification.loader.exec_module(recorder)
    with recorder.recording(supervisor, str(file)):
        simulation = Simulation(load_scene(scene))
        host = ControllerHost(simulation, load(controller))
        if reset_time is not None:
            while simulation.data.time < reset_time - 1e-9:
                assert host.step()
            simulation.reset(time=float(simulation.data.time))
        before = host.ticks
        while host.ticks < before + ticks:
            assert host.step()
        host.close()
    return [json.loads(line) for line in file.read_text().splitlines()[-ticks:]]


def differences(hosted: Ticks, node: Ticks) -> dict[str, int]:
    """Return the numbers of the first ticks that differ, by name of what differs."""
    found: dict[str, int] = {}
    for number, (one, other) in enumerate(zip(hosted, node, strict=True)):
        for name in one:
            if one[name] != other[name]:
                found.setdefault(name, number)
    return found


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set environment variables for processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
