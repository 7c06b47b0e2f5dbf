"""Tokens that give access to a server that other machines can reach."""

import json
import re
import secrets
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import SizeLimit, read_file
from mujoco_ros.model.file_cache import FileCache

_NAME, _SUFFIX = "access", ".json"
_LARGEST = SizeLimit(1 << 12, of_client=1 << 12)
_TOKEN_BYTES, _SHORTEST = 24, 16
_QUERY = "token"
_PAGE = re.compile(r"/[a-z.]*")
_YEAR_S = 365 * 24 * 3600


class Role(StrEnum):
    """What a client may do."""

    CONTROL = "control"
    WATCH = "watch"


class AccessTokens:
    """A token for each role. A link contains it; the browser then keeps it as a cookie."""

    def __init__(self, tokens: Mapping[Role, str] | None = None, file: Path | None = None) -> None:
        self.file = file  # where they are kept; None if they are not
        # The token of each role
        self.tokens = tokens or {role: secrets.token_urlsafe(_TOKEN_BYTES) for role in Role}

    @classmethod
    def kept(cls, folder: Path) -> "AccessTokens":
        """Return the tokens of the last server of this user; new ones without it."""
        files = FileCache(folder, _SUFFIX)  # readable by the user only
        path = files.find(_NAME)
        try:
            read = json.loads(read_file(path, largest=_LARGEST)) if path else {}
            return cls({role: _valid(read[role.value]) for role in Role}, path)
        except (UserInputError, ValueError, TypeError, KeyError):
            new = cls()
        try:
            new.file = files.write(_NAME, json.dumps(new.tokens, indent=1).encode())
        except OSError as error:
            raise UserInputError(f"the access tokens cannot be written: {error}") from error
        return new

    def role(self, headers: Headers, cookie: str) -> Role | None:
        """Return the role of the token in the cookie of a request; None without a valid one."""
        given = ";".join(headers.getlist("cookie")).split(";")
        cookies = (cookie.strip().partition("=") for cookie in given)
        roles = [self._role_of(value) for name, _, value in cookies if name == cookie]
        return next(filter(None, roles), None)

    def login(self, connection: HTTPConnection, cookie: str) -> Response | None:
        """Return the response to a link with a token: the page without it, and the cookie.

        A browser that has control keeps it when it opens a read-only link.
        """
        role = self._role_of(connection.query_params.get(_QUERY, ""))
        if role is None:
            return None
        path = connection.scope["path"]
        response = RedirectResponse(path if _PAGE.fullmatch(path) else "/", 303)
        if role is Role.CONTROL or self.role(connection.headers, cookie) is not Role.CONTROL:
            token = self.tokens[role]
            response.set_cookie(cookie, token, max_age=_YEAR_S, httponly=True, samesite="lax")
        return response

    def link(self, url: str, role: Role) -> str:
        """Return a link to a page with the token of a role."""
        return f"{url}?{_QUERY}={self.tokens[role]}"

    def _role_of(self, token: str) -> Role | None:
        given = token.encode()
        matches = [
            role
            for role, known in self.tokens.items()
            if secrets.compare_digest(given, known.encode())
        ]
        return matches[0] if matches else None


def _valid(token: object) -> str:
    if not isinstance(token, str) or len(token) < _SHORTEST or not token.isascii():
        raise ValueError
    return token
