"""A simulator and its page, for tests in a browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from simulators import Simulator, SimulatorLauncher

START_MS = 120_000


@contextmanager
def simulator_with_page(folder: Path, **parameters: Any) -> Iterator[Simulator]:
    """Run a simulator that serves the page; settings of the page are in the folder."""
    starter = SimulatorLauncher(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(folder / "state"))
            simulator = starter.simulator(viewer="web", **parameters)
        simulator.wait_for_log("the viewer is at")
        yield simulator
    finally:
        starter.close()


@contextmanager
def opened_page(browser: Any, simulator: Simulator) -> Iterator[Any]:
    """Open the page of a simulator, and wait until it is connected."""
    page = browser.new_page()
    page.set_default_timeout(START_MS)
    page.goto(re.findall(r"the viewer is at (\S+)", simulator.log)[-1])
    page.wait_for_function("window.did_handshake")
    yield page
    page.close()


def viewer_of(simulator: Simulator) -> int:
    """Return the process id of a simulator's viewer."""
    pid = simulator.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in children}
    return next(child for child, command in commands.items() if "mujoco_ros.cli.viewer" in command)
