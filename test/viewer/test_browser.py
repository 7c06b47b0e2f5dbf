"""The page in a real browser, and over ROS what comes of what is done on it."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
from rosgraph_msgs.msg import Clock
from shown import Shown
from simulation_interfaces.srv import DeleteEntity
from simulators import ROOT, Listener, Recording, Simulator, Starter
from tf2_msgs.msg import TFMessage

SPY = Path(__file__).parent / "support" / "spied"
SIZE = {"width": 1000, "height": 640}
# Few pixels for a large page: without a graphics card, a picture takes a processor a third of a
# second even so.
SCALE = 0.4
MAGENTA = [1.0, 0.0, 1.0, 1.0]
CONTROLLER = ROOT / "test" / "ros" / "support" / "state_machine_node.py"
START_MS = 240_000
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def simulator(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Simulator, Path]]:
    folder = tmp_path_factory.mktemp("page")
    widgets = folder / "widgets.json"
    starter = Starter(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SPY))
        patch.setenv("MUJOCO_ROS_WIDGETS", str(widgets))
        simulator = starter.simulator(scene="arm", viewer="web", viewer_port=18080, cameras="false")
    simulator.wait_for_log("the viewer is at")
    yield simulator, widgets
    starter.close()


@pytest.fixture(scope="module")
def listener(simulator: tuple[Simulator, Path]) -> Iterator[Listener]:
    listener = Listener(simulator[0].domain)
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def shown(simulator: tuple[Simulator, Path], browser: Any) -> Iterator[Shown]:
    """The page, as soon as robot and panels are on it."""
    running, widgets = simulator
    page = browser.new_page(viewport=SIZE, device_scale_factor=SCALE)
    page.set_default_timeout(START_MS)
    with page.expect_console_message(lambda said: "First remote draw frame" in said.text):
        page.goto(re.findall(r"the viewer is at (\S+)", running.log)[-1])
    yield Shown(page, widgets)
    page.close()


def height_of(recording: Recording, frame: str) -> Callable[[], float]:
    def height() -> float:
        for message in reversed(recording.messages):
            for transform in message.transforms:
                if transform.child_frame_id == frame:
                    return float(transform.transform.translation.z)
        return np.nan

    return height


def test_the_page_shows_what_is_simulated_in_the_colours_that_it_has_now(shown, listener):
    assert len(shown.magenta()) == 0
    (done,) = listener.set_parameters({"material.box.aluminium.rgba": MAGENTA})
    assert done.successful, done.reason
    shown.wait(lambda: len(shown.magenta()) > 8, "the box in its new colour")


def test_a_body_is_pulled_with_the_mouse_until_it_is_let_go(shown, listener):
    wrenches = listener.record(WrenchStamped, "/external_wrench", reliable=True)
    frames = listener.record(TFMessage, "/tf")
    height = height_of(frames, "box")
    assert listener.spin_until(lambda: height() == height())
    before = height()
    middle = tuple(np.median(shown.magenta(), axis=0))
    shown.press(middle)
    shown.press(middle)  # which selects it
    shown.page.keyboard.down("Control")
    shown.drag(middle, (0.0, -60.0), "right")
    assert listener.spin_until(lambda: height() > before + 0.02), "the pull is not felt"
    assert wrenches.messages[-1].header.frame_id == "box"
    shown.page.mouse.up(button="right")
    shown.page.keyboard.up("Control")
    assert listener.spin_until(lambda: wrenches.messages[-1].wrench.force.z == 0.0), "no end"
    assert listener.spin_until(lambda: height() < before + 0.01), "it hangs in the air"
    listener.forget_subscriptions()


def test_a_button_resets_the_simulation(shown, listener):
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0)
    times = []

    def is_back() -> bool:
        times[:] = [message.clock.sec + 1e-9 * message.clock.nanosec for message in clock.messages]
        return times[-1] < times[0]

    shown.click("Simulation/Reset")
    assert listener.spin_until(is_back), "time goes on"
    listener.forget_subscriptions()


def test_a_gain_that_is_typed_in_becomes_a_parameter(shown, listener):
    name = "gains.elbow_joint.kp"
    before = listener.get_parameter(name)
    shown.click("arm###robot arm/Gains")
    shown.type(f"arm###robot arm/##{name}", "321")
    assert listener.spin_until(lambda: listener.get_parameter(name) != before)
    assert listener.get_parameter(name) == 321.0


def test_a_button_takes_a_transition_of_a_controller(shown, listener, simulator):
    controller = subprocess.Popen(
        [sys.executable, str(CONTROLLER)], env=simulator[0].environment, cwd=ROOT
    )
    try:
        shown.front("Controller")
        shown.click("Controller/stand")
        client = listener.node.create_client(GetState, "/walking_controller/get_state")
        assert client.wait_for_service(60.0)

        def state() -> str:
            answer = listener.result(client.call_async(GetState.Request()))
            return str(answer.current_state.label)

        assert listener.spin_until(lambda: state() == "standing")
    finally:
        controller.terminate()
        controller.wait()


def test_what_is_deleted_is_seen_no_more(shown, listener):
    assert len(shown.magenta()) > 8
    client = listener.node.create_client(DeleteEntity, "/mujoco/delete_entity")
    assert client.wait_for_service(60.0)
    answer = listener.result(client.call_async(DeleteEntity.Request(entity="box")))
    assert answer.result.result == answer.result.RESULT_OK
    shown.wait(lambda: len(shown.magenta()) == 0, "the table without the box")
