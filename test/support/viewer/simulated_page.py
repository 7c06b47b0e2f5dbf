"""A simulator and its page, for tests in a browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from page_driver import PageDriver
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import SetSimulationState
from simulators import ROOT, Listener, Simulator, SimulatorLauncher

RECORDER = ROOT / "test" / "support" / "viewer" / "widget_recorder"
# Without a graphics card, each pixel and each frame of a large page costs CPU time.
SCALE = 0.08
FEWER_FRAMES = """(() => {
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = draw => setTimeout(() => request(draw), 50);
})();"""
START_MS = 240_000


@contextmanager
def simulator_with_page(folder: Path, **parameters: Any) -> Iterator[tuple[Simulator, Path]]:
    """Run a simulator; yield it, and the file of the widgets of its viewer."""
    widgets = folder / "widgets.json"
    starter = SimulatorLauncher(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(RECORDER))
            patch.setenv("MUJOCO_ROS_WIDGETS", str(widgets))
            simulator = starter.simulator(viewer="web", viewer_port=18080, **parameters)
        simulator.wait_for_log("the viewer is at")
        yield simulator, widgets
    finally:
        starter.close()


@contextmanager
def opened_page(
    browser: Any, running: tuple[Simulator, Path], size: tuple[int, int], *scripts: str
) -> Iterator[PageDriver]:
    """Open the page, with scripts that run before its own; yield it with settled windows."""
    simulator, widgets = running
    width, height = size
    viewport = {"width": width, "height": height}
    page = browser.new_page(viewport=viewport, device_scale_factor=SCALE)
    try:
        page.set_default_timeout(START_MS)
        for script in (FEWER_FRAMES, *scripts):
            page.add_init_script(script)
        with page.expect_console_message(lambda message: "First remote draw frame" in message.text):
            page.goto(re.findall(r"the viewer is at (\S+)", simulator.log)[-1])
        shown = PageDriver(page, widgets)
        shown.settle()
        yield shown
    finally:
        page.close()


def viewer_of(simulator: Simulator) -> int:
    """Return the process id of a simulator's viewer."""
    pid = simulator.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in children}
    return next(child for child, command in commands.items() if "mujoco_ros.cli.viewer" in command)


def set_state(listener: Listener, state: int) -> None:
    """Set the state of the simulation, one of those of SimulationState."""
    request = SetSimulationState.Request(state=SimulationState(state=state))
    answer = listener.call(SetSimulationState, "set_simulation_state", request)
    assert answer.result.result == answer.result.RESULT_OK
