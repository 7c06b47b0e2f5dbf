"""The page over the network."""

import gzip
import hashlib
import http.client
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from mujoco.studio import messages, plugin, viewer_protocol
from still_state import StillState
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from mujoco_ros.sim.shared_memory.reader import Update
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.web.listening import PrivateSocket
from mujoco_ros.viewer.web.page import PanelsHidden, open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard

PATIENCE_S = 120.0
CONTROLS = """
    window.sent = [];
    window.WebSocket = class {
      static OPEN = 1;
      readyState = 1;
      constructor() {
        setTimeout(() => {
          this.onopen();
          this.onmessage({ data: "viewers=1;role=controller" });
        });
      }
      addEventListener() {}
      send(text) {
        if (text.startsWith("theme=")) sent.push(text);
      }
      close(code) {
        sent.push(code);
      }
    };
"""
"""Gives a page control of the viewer and records its themes and the code of the end."""

SOCKETS = """
    window.sockets = {};
    window.WebSocket = class extends EventTarget {
      static OPEN = 1;
      readyState = 1;
      constructor(url) {
        super();
        sockets[url] = this;
      }
      send() {}
      display() {
        for (const data of [`drawn=${performance.now()};0;0`, new ArrayBuffer(1)]) {
          this.dispatchEvent(new MessageEvent("message", { data }));
        }
      }
    };
"""
"""Connections by their path, which the page displays when it receives something on them."""


class Counter(plugin.ViewerPlugin):
    def __init__(self) -> None:
        self.frames = self.states = self.hidden = 0

    @messages.handler
    def on_state(self, _: messages.StateSnapshot) -> None:
        self.states += 1

    @messages.handler
    def on_build_gui(self, _: messages.BuildGuiEvent) -> None:
        self.frames += 1

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        self.hidden += 1


class Served:
    """A page served by a thread."""

    def __init__(self) -> None:
        self.state = StillState("arm")
        self.guard = WebServerGuard("127.0.0.1", 0)
        self.counter = Counter()
        self.turns = 0
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._opened.wait(PATIENCE_S)

    def _run(self) -> None:
        page = open_page(
            self.guard,
            Feed(self.state, EntityDisplays(self.state), on_frame=self._turn),
            [self.counter],
        )
        self._opened.set()
        viewer_protocol.run_viewer_loop(page)

    def _turn(self, _is_new: bool) -> None:
        self.turns += 1

    def close(self) -> None:
        self.state.ended = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def get(self, path: str, host: str | None = None, **headers: str) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.guard.port, timeout=PATIENCE_S)
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"localhost:{self.guard.port}")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def visit(self, path: str, origin: str | None = None) -> Any:
        return connect(f"ws://127.0.0.1:{self.guard.port}{path}", origin=origin, proxy=None)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


def test_the_page_has_headers_that_keep_other_sites_from_reading_and_embedding_it(served):
    status, headers, body = served.get("/")
    assert status == 200
    assert b"<canvas" in body
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert "Access-Control-Allow-Origin" not in headers
    assert "<title>arm \u2013 mujoco_ros</title>".encode() in body
    assert int(headers["Content-Length"]) == len(body)
    assert body.index(b"ReconnectingSocket") < body.index(b'src="web_client.js"'), (
        "Studio's script is first"
    )
    status, headers, body = served.get("/model")
    assert (status, len(body) > 10_000) == (200, True)
    assert "Access-Control-Allow-Origin" not in headers


def test_program_and_model_are_compressed_for_clients_that_accept_it(served):
    for path in ("/web_client.wasm", "/model"):
        _, plain, body = served.get(path)
        _, headers, compressed = served.get(path, **{"Accept-Encoding": "gzip, br"})
        assert "Content-Encoding" not in plain
        assert headers["Content-Encoding"] == "gzip"
        assert int(headers["Content-Length"]) == len(compressed) < 0.7 * len(body)
        assert gzip.decompress(compressed) == body


@pytest.mark.parametrize("bundle", [True, False], ids=["together", "one by one"])
def test_the_page_has_each_material_that_its_program_fetches(served, tabs, bundle):
    page, paths = tabs.new_page(), []
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))
    if not bundle:
        page.route("**/materials", lambda route: route.abort())
    page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    for name in ("pbr.filamat", "outline_flatten.filamat", "none.filamat"):
        status, _, body = served.get(f"/assets/{name}")
        fetched = page.evaluate(
            """async (path) => {
              const response = await fetch(path);
              const hash = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
              return [response.status, [...new Uint8Array(hash)]];
            }""",
            f"assets/{name}",
        )
        assert fetched == [status, list(hashlib.sha256(body).digest())]
    single = [path for path in paths if path.startswith("/assets/") and "none" not in path]
    assert ("/materials" in paths, len(single)) == (True, 0 if bundle else 2)
    page.close()


def test_the_page_shows_that_it_loads(served, tabs):
    page = tabs.new_page()
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    assert page.locator("#loading").is_visible()
    assert "loading the viewer" in page.locator("#loading").inner_text()
    page.close()


def test_the_title_stays_when_the_renderer_of_studio_sets_its_own(served, tabs):
    page = tabs.new_page()
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))  # Studio's part is slow
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    page.evaluate("document.title = 'MuJoCo Web Viewer'")
    assert page.title() == "arm \u2013 mujoco_ros"
    page.close()


def test_a_page_without_its_overlay_is_not_loaded_again(served, browser):
    page, paths = browser.new_page(), []  # the whole context has one clock
    page.clock.install()
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))
    page.route("**/teleop/overlay.js", lambda route: route.fulfill(status=404))
    page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    page.clock.fast_forward(5000)  # the page looks for its viewer after a second
    page.evaluate("async () => { await fetch('model?total_bytes'); }")
    assert "/teleop/overlay.js" in paths
    assert paths.count("/") == 1
    page.close()


def test_the_theme_is_the_preference_of_the_browser_until_another_is_selected(served, browser):
    context = browser.new_context(color_scheme="light")
    context.add_init_script(CONTROLS)
    page = context.new_page()
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))  # Studio's part is slow

    def theme() -> tuple[str, str]:
        page.goto(f"http://127.0.0.1:{served.guard.port}/")
        page.evaluate("() => { new WebSocket('/state'); }")
        page.wait_for_function("sent.length > 0")
        return page.evaluate("sent[0]"), page.evaluate("localStorage.getItem('mjwv_theme')")

    assert theme() == ("theme=light", "light")
    page.evaluate("localStorage.setItem('mjwv_theme', 'classic')")
    assert theme() == ("theme=classic", "classic")
    page.emulate_media(color_scheme="dark")
    assert theme() == ("theme=dark", "dark")
    context.close()


def test_a_page_that_has_stopped_leaves_the_control_to_others(served, tabs):
    page = tabs.new_page()
    page.add_init_script(CONTROLS)
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    page.evaluate("() => { new WebSocket('/state'); }")
    page.wait_for_function("sent.length === 1")
    page.evaluate("requestAnimationFrame(() => { throw new TypeError('too large'); })")
    page.wait_for_function("sent.length >= 2")
    assert page.evaluate("sent[1]") == 4000
    page.close()


@pytest.mark.parametrize(("code", "is_old"), [(4001, False), (1006, True)], ids=["lost", "killed"])
def test_the_age_of_a_page_that_has_lost_control_is_that_of_its_scene(served, tabs, code, is_old):
    page = tabs.new_page()
    page.add_init_script(SOCKETS)
    page.route("**/web_client.*", lambda route: route.fulfill(body=""))
    page.goto(f"http://127.0.0.1:{served.guard.port}/")
    page.evaluate(
        """(code) => {
          for (const path of ["/state", "/ui"]) new WebSocket(path);
          sockets["/ui"].display();
          sockets["/ui"].dispatchEvent(new CloseEvent("close", { code }));
          setInterval(() => sockets["/state"].display(), 50);
        }""",
        code,
    )
    page.wait_for_timeout(1500.0)
    assert (float(page.evaluate("document.documentElement.dataset.lagS")) > 1.0) is is_old
    assert page.locator("#lag").is_visible() is is_old
    page.close()


@pytest.mark.parametrize("path", ["/", "/model", "/model?total_bytes", "/web_client.js", "/state"])
def test_a_request_to_another_host_name_is_rejected(served, path):
    status, _, body = served.get(path, "evil.example:8080")
    assert (status, body) == (403, b"evil.example:8080 is not a name of this server\n")


def test_another_site_reads_no_model(served):
    assert served.get("/model", Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize("path", ["/state?sid=1", "/ui?sid=1"])
def test_another_site_opens_no_connection(served, path):
    with pytest.raises(InvalidStatus, match="403"):
        served.visit(path, "http://evil.example")
    with pytest.raises(InvalidStatus, match="403"):
        served.visit(path, "null")


def test_the_page_itself_is_accepted(served):
    with served.visit("/state?sid=1", f"http://127.0.0.1:{served.guard.port}") as connection:
        assert "role=" in connection.recv(PATIENCE_S)
        assert served.guard.connections == 1


def test_a_spectator_receives_states_while_no_browser_shows_the_panels(served, monkeypatch):
    accept = PrivateSocket.accept

    def accept_late(self: PrivateSocket) -> Any:
        """Leave the panels connected, until they are rejected, for longer than a frame takes."""
        time.sleep(0.2)
        return accept(self)

    monkeypatch.setattr(PrivateSocket, "accept", accept_late)
    served.state.update_is = Update.STATE
    frames, states, hidden = served.counter.frames, 0, 0
    with served.visit("/state?sid=1", f"http://127.0.0.1:{served.guard.port}") as connection:
        # The panels try to connect each second.
        end = time.monotonic() + 2.0
        while states < 3 or time.monotonic() < end:
            connection.send("state_ack")
            states += isinstance(connection.recv(PATIENCE_S), bytes)
            if states == 1:
                hidden = served.counter.hidden
        assert served.counter.hidden > hidden
    served.state.update_is = Update.NOTHING
    assert served.counter.frames == frames


def test_a_page_that_reports_what_it_draws_receives_the_age_of_each_state(served):
    served.state.update_is = Update.STATE
    with served.visit("/state?sid=1", f"http://127.0.0.1:{served.guard.port}") as connection:
        connection.send("drawn=nan;0")
        connection.send("drawn=12.5;0.25")
        received: list[str | bytes] = []
        while not any(isinstance(message, bytes) for message in received[-1:]) or not any(
            str(message).startswith("drawn=") for message in received
        ):
            received.append(connection.recv(PATIENCE_S))
            connection.send("state_ack")
    served.state.update_is = Update.NOTHING
    token, waited_ms, seen = str(received[-2]).removeprefix("drawn=").split(";")
    assert (token, float(waited_ms) >= 0.0, seen) == ("12.500", True, "0")


def test_dropped_files_are_rejected(served):
    with pytest.raises(InvalidStatus, match="403"):
        served.visit("/drop?sid=1", f"http://127.0.0.1:{served.guard.port}")
    assert served.get("/drop")[0] == 403


def test_files_outside_the_page_are_not_served(served):
    for path in ("/../web_server.py", "/%2e%2e/web_server.py", "//etc/passwd"):
        assert served.get(path)[0] in (403, 404)


def test_a_new_model_is_served(served):
    before = served.get("/model")[2]
    served.state.load("quadruped")
    deadline = time.monotonic() + PATIENCE_S
    while served.get("/model?total_bytes")[2] == str(len(before)).encode() or (
        served.get("/model")[2] == before
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_nothing_is_built_or_computed_without_a_browser(served):
    counter, state = served.counter, served.state
    deadline = time.monotonic() + PATIENCE_S
    while served.guard.connections:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    state.update_is = Update.STATE
    time.sleep(0.2)
    before, turns = (counter.frames, counter.states), served.turns
    time.sleep(0.5)
    assert (counter.frames, counter.states) == before
    assert 1 <= served.turns - turns <= 15
    with served.visit("/state?sid=1", f"http://127.0.0.1:{served.guard.port}"):
        while counter.states == before[1]:
            assert time.monotonic() < deadline, "a new browser receives an old state"
            time.sleep(0.05)
    state.update_is = Update.NOTHING


def test_studio_writes_nothing_to_standard_output(capfd):
    served = Served()
    served.state.load("quadruped")
    time.sleep(0.3)
    served.close()
    assert capfd.readouterr() == ("", "")
