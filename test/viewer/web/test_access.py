"""Tokens of servers that other machines can reach."""

import http.client
import json
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_clients import FakeClients
from mujoco.studio import viewer_protocol
from still_state import StillState

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer import main_loop
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.main_loop import serve_page
from mujoco_ros.viewer.web import bounded_connection
from mujoco_ros.viewer.web.access import AccessTokens, Role
from mujoco_ros.viewer.web.page import open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard


@pytest.fixture(scope="module")
def guard() -> Iterator[WebServerGuard]:
    """Serve the page as to other machines."""
    guard, state, opened = WebServerGuard("127.0.0.1", 0), StillState("arm"), threading.Event()
    guard.tokens = AccessTokens()

    def run() -> None:
        page = open_page(guard, Feed(state, EntityDisplays(state)), [])
        opened.set()
        viewer_protocol.run_viewer_loop(page)

    thread = threading.Thread(target=run)
    thread.start()
    assert opened.wait(120.0)
    yield guard
    state.ended = True
    thread.join()


class LocalWithTokens(WebServerGuard):
    """A server of this machine with the tokens of one that others can reach."""

    def __init__(self, *arguments: Any, token_folder: Path, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.tokens = AccessTokens.kept(token_folder)


def is_open(client: socket.socket) -> bool:
    """Wait for a response or the end of a connection; return whether it is a response."""
    try:
        return client.recv(1) != b""
    except ConnectionResetError:
        return False


def get(guard: WebServerGuard, path: str, cookie: str = "") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", guard.port, timeout=120.0)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


@pytest.mark.parametrize("path", ["/", "/phone", "/watch", "/model", "/state", "/teleop", "/drop"])
def test_nothing_is_served_without_a_token(guard, path):
    other = f"{guard.cookie}={AccessTokens().tokens[Role.CONTROL]}"
    for cookie in ("", other, guard.cookie, f"{guard.cookie}=", f"{guard.cookie}=\xff"):
        assert get(guard, path, cookie).status in (401, 403), cookie
    assert get(guard, f"{path}?token=").status in (401, 403)
    assert get(guard, f"{path}?token=%FF").status in (401, 403)


@pytest.mark.parametrize(
    ("path", "page"), [("/", "/"), ("/phone", "/phone"), ("//evil.example/", "/"), ("/\\e.x", "/")]
)
def test_a_link_sets_a_cookie_and_leads_to_the_page_without_the_token(guard, path, page):
    response = get(guard, f"{path}?token={guard.tokens.tokens[Role.CONTROL]}")
    assert (response.status, response.headers["Location"]) == (303, page)
    cookie, _, attributes = response.headers["Set-Cookie"].partition(";")
    assert "HttpOnly" in attributes
    assert "SameSite=Lax" in attributes
    assert get(guard, page, f"theme=dark; {cookie}").status == 200
    assert get(guard, "/model", cookie).status == 200


def test_the_read_only_token_opens_the_read_only_page_alone(guard):
    cookie = f"{guard.cookie}={guard.tokens.tokens[Role.WATCH]}"
    assert get(guard, "/watch", cookie).status == 200
    assert get(guard, "/teleop/phone.js", cookie).status == 200
    for path in ("/phone", "/model", "/state", "/ui", "/web_client.js"):
        assert get(guard, path, cookie).status == 403, path
    response = get(guard, "/", cookie)
    assert (response.status, response.headers["Location"]) == (303, "/watch")


@pytest.mark.parametrize("path", ["//[x", "//[x?token=a", "/?token=%", "/?" + "&".join("a" * 99)])
def test_a_malformed_link_is_unauthorized(guard, path):
    assert get(guard, path).status in (401, 403)


def test_a_browser_with_control_keeps_it_when_it_opens_the_read_only_link(guard):
    control, watch = (guard.tokens.tokens[role] for role in (Role.CONTROL, Role.WATCH))
    path = f"/watch?token={watch}"
    assert watch in get(guard, path).headers["Set-Cookie"]
    response = get(guard, path, f"{guard.cookie}={control}")
    assert (response.status, response.headers["Location"]) == (303, "/watch")
    assert "Set-Cookie" not in response.headers


def test_a_connection_without_a_request_is_closed(guard, monkeypatch):
    monkeypatch.setattr(bounded_connection, "REQUEST_S", 0.2)
    with socket.create_connection(("127.0.0.1", guard.port), timeout=120.0) as silent:
        assert not is_open(silent)


def test_the_log_has_the_address_without_a_token(tmp_path, capfd, monkeypatch):
    lines: list[str] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(main_loop, "WebServerGuard", LocalWithTokens)
    state = StillState("arm")
    state.ended = True
    serve_page(state, FakeClients(), "127.0.0.1", 0, log=lines.append, on_lag=lambda _: None)
    (line,), written = lines, capfd.readouterr().err
    tokens = json.loads((tmp_path / "mujoco_ros/viewer_access/access.json").read_text())
    assert line.endswith(f"are kept in {tmp_path}/mujoco_ros/viewer_access/access.json")
    assert not any(token in line for token in tokens.values())
    assert all(f"?token={token}\n" in written for token in tokens.values())


def test_a_server_of_this_machine_needs_no_token():
    local = WebServerGuard("127.0.0.1", 0)
    assert local.tokens is None
    local.close()


def test_tokens_are_kept_for_the_next_server_and_readable_by_the_user_only(tmp_path):
    folder = tmp_path / "access"
    tokens = AccessTokens.kept(folder).tokens
    assert len(set(tokens.values())) == 2
    assert AccessTokens.kept(folder).tokens == tokens
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"control": "", "watch": ""}', '{"control": 1, "watch": 2}']
)
def test_an_invalid_file_is_replaced(tmp_path, content):
    AccessTokens.kept(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(content)
    tokens = AccessTokens.kept(tmp_path).tokens
    assert min(map(len, tokens.values())) > 20
    assert json.loads(file.read_text()) == tokens


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserInputError, match="access tokens cannot be written"):
        AccessTokens.kept(tmp_path / "file" / "folder")
