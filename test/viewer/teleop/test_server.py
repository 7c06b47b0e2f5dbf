"""The page for phones in a browser, the read-only page, and a gamepad."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import pytest
from served_pages import SPEEDS, TOOL_TOPIC, TOPIC, ServedPages, until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.reader import Update

ZERO = [0, 0, 0]
AHEAD = (TOPIC, (SPEEDS["forwards"], 0.0, 0.0), (0.0, 0.0, 0.0))
PORTRAIT, LANDSCAPE = (390, 844), (844, 390)
GAMEPAD = """
    window.pad = {
      id: "pad", connected: true, mapping: "standard", axes: [0, -1, 0, 0],
      buttons: Array.from({ length: 16 }, () => ({ pressed: false })),
    };
    navigator.getGamepads = () => [window.pad];
"""
"""A gamepad whose left stick is pushed ahead."""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
SOCKETS = """
    window.sockets = [];
    window.WebSocket = class extends WebSocket {
      constructor(...address) {
        super(...address);
        window.sockets.push(this);
      }
    };
"""
"""Keeps the connections of a page."""
DELAY = """
    window.WebSocket = class extends WebSocket {
      set onmessage(receive) {
        super.onmessage = (event) => setTimeout(() => receive(event), 700);
      }
    };
"""
"""Delays what a page receives."""
GAP = """
    window.WebSocket = class extends WebSocket {
      set onmessage(receive) {
        super.onmessage = (event) => {
          const status = JSON.parse(event.data);
          const rows = [0, 0, null, 0, 0].map((value, time) => [time, [value]]);
          receive({ data: JSON.stringify(status.rows ? { ...status, rows } : status) });
        };
      }
    };
    window.path = [];
    const context = CanvasRenderingContext2D.prototype;
    context.beginPath = () => (window.path = []);
    for (const name of ["moveTo", "lineTo"]) context[name] = () => window.path.push(name);
"""
"""Samples of which the middle one is no number, and the path that the page draws of them."""
OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def pages() -> Iterator[ServedPages]:
    pages = ServedPages()
    yield pages
    pages.close()


@pytest.fixture
def served(pages) -> ServedPages:
    """The pages without connections and calls."""
    until(lambda: not pages.guard.further_connections, "a page remains", lambda: time.sleep(0.05))
    pages.clients.calls.clear()
    pages.clients.requests.clear()
    pages.targets["box"] = Pose()
    pages.state.paused, pages.state.update_is = False, Update.NOTHING
    return pages


@pytest.fixture(scope="module")
def phone(browser: Any) -> Iterator[Any]:
    """The browser of a phone."""
    context = browser.new_context(has_touch=True)
    context.set_default_timeout(120_000)
    yield context
    context.close()


@pytest.fixture
def open_page(served: ServedPages, phone: Any) -> Iterator[OpenPage]:
    """Return a function that opens a page."""

    def opened(path: str = "/phone", size: tuple[int, int] = PORTRAIT, script: str = "") -> Any:
        page = phone.new_page()
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        page.add_init_script(script)
        page.route("**/web_client.*", lambda route: route.fulfill(body=""))  # Studio's part is slow
        page.goto(f"{served.url}{path}")
        return page

    yield opened
    for page in phone.pages:
        page.close()


def middle(page: Any, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def hold_ahead(page: Any, served: ServedPages) -> None:
    """Deflect the pad fully ahead, and keep it there until the robot is driven."""
    page.wait_for_selector("#owner:text('You have control.')")
    push_ahead(page)
    wait_for(page, lambda: AHEAD in served.clients.called("drive"), "the pad drives")


def push_ahead(page: Any) -> None:
    """Deflect the pad fully ahead, and keep it there."""
    page.wait_for_selector("#move:not([hidden])")
    page.locator("#move").scroll_into_view_if_needed()
    x, y = middle(page, "#move")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 300.0)


def wait_for(page: Any, condition: Callable[[], Any], what: str) -> None:
    until(condition, what, partial(page.wait_for_timeout, 50.0))


@pytest.mark.parametrize("size", [PORTRAIT, LANDSCAPE], ids=["portrait", "landscape"])
def test_a_phone_pauses_requests_transitions_and_drives_while_a_finger_holds_the_pad(
    served, open_page, size
):
    page, clients = open_page(size=size), served.clients
    page.wait_for_selector("#run.playing")
    assert page.title() == "arm \u2013 mujoco_ros"
    for button in ("#pause", "#step"):
        box = page.locator(button).bounding_box()
        assert box["x"] >= 0.0
        assert box["x"] + box["width"] <= size[0]
        assert box["y"] + box["height"] <= size[1]
        assert box["height"] >= 44.0
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    width = "document.querySelector('#image').naturalWidth"
    wait_for(page, lambda: page.evaluate(width) == 64, "an image")
    page.click("#controllers button:text('rest')")
    wait_for(page, lambda: ("/walk", "rest") in clients.called("change_state"), "a transition")
    page.click("#pause")
    wait_for(page, lambda: clients.called("pause"), "a pause")
    hold_ahead(page, served)
    page.mouse.up()
    wait_for(page, lambda: clients.calls[-1] == ("stop", TOPIC), "the end of the motion")
    served.state.paused = True
    page.click("#pause:text('Play')")
    page.click("#step")
    wait_for(page, lambda: clients.called("play") and clients.called("step"), "play and step")


@pytest.mark.parametrize("leave", ["hide", "close"])
def test_the_robot_stops_and_control_is_free_when_the_page_is_hidden_or_closed(
    served, open_page, leave
):
    page, other = open_page(), open_page()
    other.wait_for_selector("#owner:text('Another page has control.')")
    hold_ahead(page, served)
    if leave == "hide":
        page.evaluate(HIDE, True)
    else:
        page.close()
    wait_for(other, lambda: served.clients.calls[-1] == ("stop", TOPIC), "the end of the motion")
    other.wait_for_selector("#owner:text('Control is free.')")
    other.click("#ask:text('Take control')")
    other.wait_for_selector("#owner:text('You have control.')")


def test_control_is_requested_and_handed_over(open_page):
    page, other = open_page(), open_page()
    other.wait_for_selector("#owner:text('Another page has control.')")
    assert other.locator("#controllers button").first.is_disabled()
    other.click("#ask:text('Request control')")
    page.click("#deny")
    other.wait_for_selector("#owner:text('Another page has control.')")
    other.click("#ask:text('Request control')")
    page.click("#ask:text('Hand over')")
    other.wait_for_selector("#owner:text('You have control.')")
    page.wait_for_selector("#owner:text('Another page has control.')")
    other.close()
    page.wait_for_selector("#owner:text('Control is free.')")


@pytest.mark.parametrize("size", [PORTRAIT, (1280, 800)], ids=["phone", "desktop"])
def test_the_read_only_page_shows_time_state_and_plots_without_controls(served, open_page, size):
    page = open_page("/watch", size)
    served.state.paused, served.state.time = True, 12.5
    page.wait_for_selector("#run.paused")
    page.wait_for_selector("#time:text('12.50 s')")
    page.wait_for_selector("#controllers em:text('STAND')")
    page.wait_for_selector("#plots figcaption i:text('elbow q')")
    drawn = """() => {
        const canvas = document.querySelector("#plots canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value) => value > 0);
    }"""
    wait_for(page, lambda: page.evaluate(drawn), "a curve")
    assert [it.is_visible() for it in page.locator("button").all()].count(True) == 0
    assert not page.locator(".pad").first.is_visible()


def ages(page: Any) -> list[float]:
    """Return the age that a page reports, ten times in two seconds [s]."""
    found = []
    for _ in range(10):
        page.wait_for_timeout(200.0)
        found.append(float(page.evaluate("document.documentElement.dataset.lagS")))
    return found


def test_the_age_contains_the_delay_of_the_network(served, open_page):
    page = open_page("/watch", script=DELAY)
    page.wait_for_selector("#run.playing")
    page.wait_for_timeout(2000.0)
    assert min(ages(page)) >= 0.7
    assert page.locator("#lag").is_visible()


def test_the_state_of_a_paused_simulation_is_not_old(served, open_page):
    page = open_page("/watch")
    served.state.paused = True
    page.wait_for_selector("#run.paused")
    assert sorted(ages(page))[5] < 0.5


def test_the_age_rises_until_a_new_connection_has_a_newer_state(served, open_page):
    page = open_page("/watch", script=SOCKETS)
    page.wait_for_selector("#run.playing")
    page.wait_for_timeout(1000.0)
    page.evaluate("sockets.at(-1).close()")
    page.wait_for_selector("#lag:not([hidden])")
    page.wait_for_selector("#run.playing")
    page.wait_for_selector("#lag[hidden]", state="attached")


def test_a_curve_has_a_gap_where_it_is_no_number(served, open_page):
    page = open_page("/watch", script=GAP)
    wait_for(page, lambda: len(page.evaluate("path")) == 4, "a curve")
    assert page.evaluate("path")[2:] == ["moveTo", "lineTo"]


@pytest.mark.parametrize("path", ["/phone", "/"], ids=["phone", "main page"])
def test_a_gamepad_drives_while_a_shoulder_button_is_held(served, open_page, path):
    page, clients = open_page(path, script=GAMEPAD), served.clients
    page.wait_for_selector("select:has(option[value='/cmd_vel'])", state="attached")
    press = "(pressed) => { window.pad.buttons[4].pressed = pressed; }"
    page.wait_for_timeout(200.0)
    assert clients.called("drive") == [], "it drives without the button"
    page.evaluate(press, True)
    wait_for(page, lambda: AHEAD in clients.called("drive"), "the gamepad drives")
    assert clients.called("drive")[0][1][0] < 0.9 * SPEEDS["forwards"], "the velocity jumps"
    page.evaluate(press, False)
    wait_for(page, lambda: clients.calls[-1] == ("stop", TOPIC), "the end of the motion")


@pytest.mark.parametrize(
    ("button", "leave"),
    [(4, "release"), (4, "hide"), (4, "close"), (5, "release")],
    ids=["translates-release", "translates-hide", "translates-close", "rotates-release"],
)
def test_a_gamepad_moves_a_tool_until_its_button_is_released_or_the_page_is_left(
    served, open_page, button, leave
):
    page, clients = open_page(script=GAMEPAD), served.clients
    page.select_option("#target", "tool /cartesian_controller")
    page.wait_for_selector("#turn span:text('up, turn')")
    page.evaluate("(button) => { window.pad.buttons[button].pressed = true; }", button)
    ahead = ((0.2, 0.0, 0.0), (0.0, 0.0, 0.0)) if button == 4 else ((0.0,) * 3, (0.0, 0.8, 0.0))
    wait_for(page, lambda: (TOOL_TOPIC, *ahead) in clients.called("drive"), "the tool moves")
    if leave == "release":
        page.evaluate("(button) => { window.pad.buttons[button].pressed = false; }", button)
    elif leave == "hide":
        page.evaluate(HIDE, True)
    else:
        page.close()
    until(
        lambda: clients.calls[-1] == ("stop", TOOL_TOPIC),
        "the end of the motion",
        lambda: time.sleep(0.05) if leave == "close" else page.wait_for_timeout(50.0),
    )


def test_a_gamepad_moves_a_target_from_where_it_is(served, open_page):
    page = open_page(script=GAMEPAD)
    served.targets["box"] = Pose(position=np.array([1.0, 2.0, 3.0]))
    page.select_option("#target", "target box")
    page.evaluate("window.pad.buttons[4].pressed = true")
    wait_for(page, lambda: served.targets["box"].position[0] > 1.005, "the target moves")
    assert served.targets["box"].position[0] < 1.5
    assert tuple(served.targets["box"].position[1:]) == (2.0, 3.0)
    page.close()
    wait_for_end = connect_page(served)
    with wait_for_end as connection:
        before = served.targets["box"].position[0]
        for _ in range(3):
            connection.recv(60.0)
        assert served.targets["box"].position[0] == before, "it moves without a page"


@pytest.mark.parametrize("path", ["/phone", "/"], ids=["phone", "main page"])
@pytest.mark.parametrize("change", ["the connection is new", "it is added again"])
def test_what_a_page_moves_stays_selected_when(served, open_page, change, path):
    page = open_page(path, script=GAMEPAD + SOCKETS)
    select = "select:has(option[value='/cmd_vel'])"
    page.wait_for_selector(f"{select} option[value='target box']", state="attached")
    page.select_option(select, "target box")
    selected = "[...document.querySelectorAll('select')].find((it) => it.id !== 'cameras').value"
    if change == "the connection is new":
        page.evaluate("sockets.at(-1).close()")
    else:
        del served.targets["box"]
    wait_for(page, lambda: page.evaluate(selected) == "", "nothing is selected")
    served.targets["box"] = Pose()
    wait_for(page, lambda: page.evaluate(selected) == "target box", "it is selected again")
    page.select_option(select, TOPIC)
    del served.targets["box"]
    page.wait_for_selector(f"{select}:not(:has(option[value='target box']))", state="attached")
    assert page.evaluate(selected) == TOPIC


@pytest.mark.parametrize("device", ["pad", "gamepad"])
def test_what_is_held_commands_nothing_when_what_it_moves_is_removed(served, open_page, device):
    page = open_page(script=GAMEPAD if device == "gamepad" else "")
    page.wait_for_selector("#owner:text('You have control.')")
    page.select_option("#target", "target box")
    if device == "pad":
        push_ahead(page)
    else:
        page.evaluate("window.pad.buttons[4].pressed = true")
    wait_for(page, lambda: served.targets["box"].position[0] > 0.005, "the target moves")
    del served.targets["box"]
    wait_for(page, lambda: page.input_value("#target") == "", "nothing is selected")
    page.wait_for_timeout(300.0)
    served.targets["box"] = Pose()
    wait_for(page, lambda: page.input_value("#target") == "target box", "it is selected again")
    page.wait_for_timeout(500.0)
    assert served.targets["box"].position[0] == 0.0, "it moves without a new press"
    assert served.clients.called("drive") == []


def test_a_new_connection_keeps_the_camera(served, open_page):
    page = open_page(script=SOCKETS)
    page.wait_for_selector("#cameras option", state="attached")
    page.select_option("#cameras", index=1)
    selected = page.input_value("#cameras")
    page.evaluate("sockets.at(-1).close()")
    page.wait_for_selector("#cameras:not(:has(option))", state="attached")
    page.wait_for_selector("#cameras option", state="attached")
    assert page.input_value("#cameras") == selected


def connect_page(served: ServedPages, path: str = "/teleop") -> Any:
    return connect(served.url.replace("http", "ws") + path, origin=served.url, proxy=None)


def error(connection: Any) -> str:
    """Return the next error."""
    while '"error"' not in (message := str(connection.recv(60.0))):
        pass
    return message


def test_invalid_messages_are_errors_without_effect(served):
    with connect_page(served) as connection:
        connection.send("[]")
        assert "an object with one of: alive" in error(connection)
        connection.send('{"play": true}')
        assert "take control" in error(connection)
        connection.send(b"\xff\xfe")
        assert "no JSON" in error(connection)
        connection.send("x" * 3000)
        assert "more than 2048" in error(connection)
        connection.send("x" * 5000)
        with pytest.raises(ConnectionClosed, match="too big"):
            error(connection)
    assert served.clients.calls == []


def test_a_read_only_connection_commands_nothing(served):
    with connect_page(served, "/teleop?watch") as connection:
        for message in ('{"control": "take"}', '{"pause": true}', '{"stop": true}'):
            connection.send(message)
            assert "read-only" in error(connection)
    assert served.clients.calls == []


def test_a_connection_that_acknowledges_has_at_most_two_statuses_in_flight_then_the_newest(served):
    with connect_page(served, "/teleop?watch") as connection:
        status = json.loads(connection.recv(60.0))
        assert "mark" not in status
        while "mark" not in status:
            connection.send('{"received": 1000.0}')
            status = json.loads(connection.recv(60.0))
        connection.recv(60.0)
        with pytest.raises(TimeoutError):
            connection.recv(1.0)
        served.state.time = 99.0
        time.sleep(0.5)
        connection.send('{"received": 2000.0}')
        assert json.loads(connection.recv(60.0))["time"] == 99.0


def test_another_site_opens_no_connection(served):
    with pytest.raises(InvalidStatus, match="403"):
        connect(
            served.url.replace("http", "ws") + "/teleop", origin="http://evil.example", proxy=None
        )


def test_a_status_that_fails_ends_motions_but_not_the_viewer(served, monkeypatch, caplog):
    failures, stops = [], []

    def fail(now: float) -> None:
        failures.append(now)
        raise ValueError("the status failed")

    with monkeypatch.context() as patch, connect_page(served) as connection:
        patch.setattr(served.teleop._status, "tick", fail)
        patch.setattr(served.teleop._motion, "stop", lambda: stops.append(1))
        until(lambda: len(failures) >= 3, "the viewer continues", lambda: time.sleep(0.05))
        assert len(stops) >= 2
        patch.undo()
        collected_at = served.teleop._status.collected_at
        until(
            lambda: served.teleop._status.collected_at > collected_at,
            "a newer status",
            lambda: connection.recv(60.0),
        )
    assert len([it for it in caplog.records if "motions end" in it.getMessage()]) == 1, "it is once"


def test_a_connection_whose_checks_fail_is_closed_and_its_motion_ends(served, monkeypatch, caplog):
    def fail(key: Any) -> None:
        raise ValueError("no image")

    with connect_page(served) as connection:
        while TOPIC not in connection.recv(60.0):
            pass
        connection.send('{"control": "take"}')
        connection.send(json.dumps({"move": {"name": TOPIC, "linear": [1, 0, 0], "angular": ZERO}}))
        monkeypatch.setattr(served.clients.images, "subscribe", fail)
        connection.send(json.dumps({"camera": next(iter(served.teleop._status.cameras))}))
        with pytest.raises(ConnectionClosed):
            error(connection)
    until(lambda: ("stop", TOPIC) in served.clients.calls, "a stop", lambda: time.sleep(0.05))
    monkeypatch.undo()
    assert "closing a connection: ValueError: no image" in caplog.text


def test_read_only_pages_do_not_keep_others_from_control(served):
    with ExitStack() as stack:
        for _ in range(16):
            watching = stack.enter_context(connect_page(served, "/teleop?watch"))
            watching.send('{"alive": true}')  # a silent one would be replaced
        refused = stack.enter_context(connect_page(served, "/teleop?watch"))
        with pytest.raises(ConnectionClosed, match="too many pages"):
            refused.recv(60.0)
        with connect_page(served) as connection:
            connection.send('{"control": "take"}')
            while '"control": "yours"' not in connection.recv(60.0):
                pass
