"""Gamepads and 3D mice in a browser, without a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mujoco_ros.viewer import page

SCRIPTS = Path(page.__file__).parent / "static"
ADDRESS = "http://localhost/"
SETUP = """async () => {
  const { GamepadInput } = await import("/gamepad.js");
  window.pads = [];
  navigator.getGamepads = () => window.pads;
  window.setInterval = () => 0;
  window.moves = [];
  window.hasControl = true;
  const teleop = new EventTarget();
  teleop.stop = () => teleop.dispatchEvent(new Event("stop"));
  teleop.move = (name, linear, angular) => {
    if (window.hasControl) window.moves.push([...linear, ...angular]);
    return window.hasControl;
  };
  window.input = new GamepadInput(teleop, () => "robot");
  window.teleop = teleop;
}"""
POLL = """({ pad, pressed, hidden = false, stops = 0, control = true }) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  window.hasControl = control;
  window.moves.length = 0;
  const buttons = Array.from({ length: 16 }, (_, index) => ({ pressed: pressed && index === 4 }));
  window.pads = [{ connected: true, buttons, ...pad }];
  for (let it = 0; it < stops; ++it) window.teleop.stop();
  window.input.poll();
  return [...window.moves];
}"""
STANDARD = {"id": "pad", "mapping": "standard", "axes": [0, -1, 0, 0]}
MOUSES = [
    "3Dconnexion SpaceMouse Wireless (Vendor: 256f Product: c62e)",
    "256f-c635-3Dconnexion SpaceMouse Compact",
    "046d-c626-3Dconnexion SpaceNavigator",
]


HID = """async () => {
  class Device extends EventTarget {
    vendorId = 0x256f; productId = 0xc635; productName = "SpaceMouse Compact"; opened = false;
    async open() { this.opened = true; }
    report(reportId, bytes) {
      const data = new DataView(Uint8Array.from(bytes).buffer);
      this.dispatchEvent(Object.assign(new Event("inputreport"), { reportId, data }));
    }
  }
  window.device = new Device();
  const hid = new EventTarget();
  hid.asked = [];
  hid.getDevices = async () => [];
  hid.requestDevice = async (options) => { hid.asked.push(options); return [window.device]; };
  Object.defineProperty(navigator, "hid", { value: hid, configurable: true });
  const mice = await import("/space_mouse.js");
  await mice.openAllowedMice();
  const before = mice.spaceMice().length;
  await mice.askForMouse();
  return [before, mice.spaceMice().length, window.device.opened, hid.asked];
}"""
REPORT = """({ reports, event = null }) => {
  for (const [number, bytes] of reports) window.device.report(number, bytes);
  if (event) {
    navigator.hid.dispatchEvent(Object.assign(new Event(event), { device: window.device }));
  }
  window.moves.length = 0;
  window.pads = [];
  window.input.poll();
  return [...window.moves];
}"""
REST, HELD, RELEASED = (1, [0] * 6), (3, [1, 0]), (3, [0, 0])
FULL_RIGHT_AND_BACK = (1, [94, 1, 94, 1, 0, 0])
"""350 along x and y."""
TURNED = (2, [0, 0, 0, 0, 162, 254])
"""-350 about z, which points down."""


@pytest.fixture(scope="module")
def opened(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    page.route(
        f"{ADDRESS}**",
        lambda route: route.fulfill(
            body=(SCRIPTS / route.request.url.removeprefix(ADDRESS)).read_text()
            if route.request.url.endswith(".js")
            else "<html></html>",
            content_type="text/javascript" if route.request.url.endswith(".js") else "text/html",
        ),
    )
    page.goto(ADDRESS)
    yield page
    page.close()


@pytest.fixture
def poll(opened) -> Any:
    """Return a function that polls a device and returns the motions that were sent."""
    opened.evaluate(SETUP)
    return lambda pad, pressed, **options: opened.evaluate(
        POLL, {"pad": pad, "pressed": pressed, **options}
    )


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_a_held_button_commands_nothing_after_stops_until_it_is_released(poll, stops):
    assert poll(STANDARD, True)
    assert poll(STANDARD, True, stops=stops) == []
    assert poll(STANDARD, True, stops=1) == []
    assert poll(STANDARD, False) == []
    assert poll(STANDARD, True)


def test_a_button_that_is_held_while_the_page_is_hidden_must_be_released(poll):
    assert poll(STANDARD, True)
    assert poll(STANDARD, True, hidden=True) == []
    assert poll(STANDARD, True) == []
    poll(STANDARD, False)
    assert poll(STANDARD, True)


def test_the_velocity_rises_from_zero_when_the_page_gets_control(poll, opened):
    assert poll(STANDARD, True, control=False) == []
    opened.wait_for_timeout(400.0)  # longer than the rise
    assert poll(STANDARD, True) == [[0] * 6]
    opened.wait_for_timeout(400.0)
    assert poll(STANDARD, True)[0][0] == 1


@pytest.mark.parametrize("name", MOUSES)
def test_a_3d_mouse_commands_all_axes_after_a_press_at_rest(poll, opened, name):
    rest, moved = ({"id": name, "mapping": "", "axes": axes} for axes in ([0] * 6, [1] * 6))
    assert poll(moved, True) == [], "it jumps"
    assert poll(moved, False) == []
    assert poll(rest, True) == [[0] * 6]
    opened.wait_for_timeout(400.0)
    assert poll(moved, True) == [[-1] * 6]


def test_triggers_of_an_unknown_device_are_no_3d_mouse(poll):
    pad = {"id": "pad (Vendor: 046d Product: c218)", "mapping": "", "axes": [0, 0, -1, 0, 0, -1]}
    assert poll(pad, True) == []


def test_a_3d_mouse_by_webhid_commands_what_its_reports_contain_until_it_is_unplugged(poll, opened):
    before, found, is_open, asked = opened.evaluate(HID)
    assert (before, found, is_open) == (0, True, True)
    assert {it["usage"] for it in asked[0]["filters"]} == {8}  # a multi-axis controller

    def send(*reports: tuple[int, list[int]], event: str | None = None) -> Any:
        return opened.evaluate(REPORT, {"reports": reports, "event": event})

    assert send(REST, FULL_RIGHT_AND_BACK) == [], "no button is held"
    assert send(REST, HELD) == [[0] * 6]
    opened.wait_for_timeout(400.0)
    assert send(FULL_RIGHT_AND_BACK, TURNED) == [[-1, -1, 0, 0, 0, 1]]
    assert send((1, [0] * 12)) == [[0] * 6], "a report of a wireless one has all six axes"
    assert send(FULL_RIGHT_AND_BACK) == [[-1, -1, 0, 0, 0, 0]]
    opened.wait_for_timeout(600.0)  # without a report: it is out of reach
    assert send() == []
    assert send(FULL_RIGHT_AND_BACK) == [], "the button must be pressed again"
    assert send(REST, RELEASED) == []
    assert send(HELD) == [[0] * 6]
    opened.wait_for_timeout(400.0)
    assert send(FULL_RIGHT_AND_BACK, event="disconnect") == []
    assert opened.evaluate("window.input.isPressed") is False
    assert send(RELEASED, REST, event="connect") == []
    opened.wait_for_timeout(50.0)
    assert send(HELD) == [[0] * 6]
