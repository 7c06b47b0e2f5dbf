"""Tokens of servers that other machines can reach."""

import asyncio
import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.page.access import AccessTokens, Role
from mujoco_ros.viewer.page.page_address import PageAddress
from mujoco_ros.viewer.page.server import announce

COOKIE = "mujoco_ros_8080"


@pytest.fixture
def tokens() -> AccessTokens:
    return AccessTokens()


@pytest.fixture
def address() -> Iterator[PageAddress]:
    created = PageAddress("127.0.0.1", 0)
    yield created
    created.socket.close()


def login(tokens: AccessTokens, path: str, cookie: str = "") -> Response | None:
    path, _, query = path.partition("?")
    headers = Headers({"Cookie": cookie} if cookie else {}).raw
    scope = {"type": "http", "path": path, "query_string": query.encode(), "headers": headers}
    return tokens.login(HTTPConnection(scope), COOKIE)


def test_only_the_own_cookie_with_a_valid_token_gives_a_role(tokens):
    other = f"{COOKIE}={AccessTokens().tokens[Role.CONTROL]}"
    for cookie in ("", other, COOKIE, f"{COOKIE}=", f"{COOKIE}=\xff"):
        assert tokens.role(Headers({"Cookie": cookie}), COOKIE) is None, cookie
    for role, token in tokens.tokens.items():
        headers = Headers({"Cookie": f"theme=dark; {COOKIE}={token}"})
        assert tokens.role(headers, COOKIE) is role
        assert tokens.role(headers, "mujoco_ros_8081") is None


@pytest.mark.parametrize(
    ("path", "page"), [("/", "/"), ("/phone", "/phone"), ("//evil.example/", "/"), ("/\\e.x", "/")]
)
def test_a_link_sets_a_cookie_and_leads_to_the_page_without_the_token(tokens, path, page):
    response = login(tokens, f"{path}?token={tokens.tokens[Role.CONTROL]}")
    assert (response.status_code, response.headers["Location"]) == (303, page)
    cookie, _, attributes = response.headers["Set-Cookie"].partition(";")
    assert "HttpOnly" in attributes
    assert "SameSite=lax" in attributes
    assert tokens.role(Headers({"Cookie": cookie}), COOKIE) is Role.CONTROL


@pytest.mark.parametrize("path", ["//[x", "//[x?token=a", "/?token=%", "/?" + "&".join("a" * 99)])
def test_a_malformed_link_is_no_login(tokens, path):
    assert login(tokens, path) is None


def test_a_browser_with_control_keeps_it_when_it_opens_the_read_only_link(tokens):
    control, watch = (tokens.tokens[role] for role in (Role.CONTROL, Role.WATCH))
    path = f"/watch?token={watch}"
    assert watch in login(tokens, path).headers["Set-Cookie"]
    response = login(tokens, path, f"{COOKIE}={control}")
    assert (response.status_code, response.headers["Location"]) == (303, "/watch")
    assert "Set-Cookie" not in response.headers


def test_the_log_has_the_address_without_a_token(address, tmp_path, capfd):
    lines: list[str] = []
    address.tokens = AccessTokens.kept(tmp_path)
    with ThreadPoolExecutor(1) as thread:  # playwright has a running loop in this one
        thread.submit(asyncio.run, announce(address, lines.append)).result()
    (line,), written = lines, capfd.readouterr().err
    tokens = json.loads((tmp_path / "access.json").read_text())
    assert line.endswith(f"are kept in {tmp_path}/access.json")
    assert not any(token in line for token in tokens.values())
    assert all(f"?token={token}\n" in written for token in tokens.values())


def test_a_server_of_this_machine_needs_no_token(address):
    assert address.tokens is None


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
