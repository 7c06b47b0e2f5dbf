"""Access to files that others name: regular files only, of limited size, in allowed folders.

The user who starts a program may name any file. Clients of a node may name files in its allowed
folders, and exactly those files that were opened for its start; see `FileAccess`.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from io import FileIO
from pathlib import Path

from mujoco_ros.model.errors import MissingFileError, UserInputError


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """A limit at the start, and a lower one for requests of clients, while the physics runs."""

    at_start: int
    of_client: int

    @property
    def value(self) -> int:
        """The limit of the current request."""
        return self.of_client if is_for_client() else self.at_start


LARGEST_FILE = SizeLimit(1 << 30, of_client=1 << 27)
"""Largest file that is read [byte]."""
LARGEST_TEXT = SizeLimit(1 << 26, of_client=1 << 21)
"""Largest XML or YAML file that is read [byte]."""
_LFS = b"version https://git-lfs.github.com/spec/"  # begins a placeholder
_BLOCK_BYTES = 1 << 16  # smallest number of bytes that is requested at a time


class ForbiddenFileError(MissingFileError):
    """A client names a file outside the folders from which clients may have files read."""


@dataclass(eq=False)
class FileAccess:
    """The files that clients of a node may name.

    `at_start` and `for_client` apply to the calls of their block, in its thread. Without one, all
    files may be read.
    """

    # Returns the allowed folders, in each block in which a client names files; None allows all
    folders: Callable[[], Iterable[Path]] | None = None
    remedy: str = ""  # how to allow another folder; ends error messages
    _opened: set[str] = field(default_factory=set)

    @contextmanager
    def at_start(self) -> Iterator[None]:
        """Allow every file; clients may name the files that are opened in this block."""
        recorded = _CURRENT.get()
        try:
            with _block(self._opened):
                yield
        finally:
            if isinstance(recorded, set):  # by `recorded_inputs`
                recorded |= self._opened

    @contextmanager
    def for_client(self) -> Iterator[None]:
        """Allow only what clients may name."""
        if self.folders is None:
            yield
            return
        with _block(_Client(self.folders, self._opened, self.remedy)):
            yield


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """The files that the client of a request may name, for its work in another process."""

    folders: tuple[str, ...]  # allowed folders, without symbolic links
    opened: frozenset[str]  # files that were opened at the start
    remedy: str


@dataclass(eq=False)
class _Client:
    """The files that a client may name, in one block."""

    find: Callable[[], Iterable[Path | str]]
    opened: Set[str]
    remedy: str

    @cached_property
    def folders(self) -> list[str]:
        return list(dict.fromkeys(os.path.realpath(folder) for folder in self.find()))

    def check(self, named: str, real: str) -> None:
        if real in self.opened or any(is_within(real, folder) for folder in self.folders):
            return
        raise ForbiddenFileError(
            f"'{named}' is not in a folder of which clients may name files: "
            f"{', '.join(self.folders) or 'there is none'}{self.remedy}"
        )


ALL_FILES = FileAccess()
"""The access of nodes whose clients name no files."""
_CURRENT: ContextVar[_Client | set[str] | None] = ContextVar("file_access", default=None)
"""What the current request may read, or the paths of the files that were read."""


@contextmanager
def _block(current: _Client | set[str]) -> Iterator[None]:
    token = _CURRENT.set(current)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def client_files() -> ClientFiles | None:
    """Return what the client of the current request may name; None if all files are allowed."""
    client = _CURRENT.get()
    if not isinstance(client, _Client):
        return None
    return ClientFiles(tuple(client.folders), frozenset(client.opened), client.remedy)


@contextmanager
def allowed_files(files: ClientFiles | None) -> Iterator[None]:
    """Allow only these files to the calls of the block, as `client_files` returned them."""
    if files is None:
        yield
        return
    with _block(_Client(lambda: files.folders, files.opened, files.remedy)):
        yield


def is_within(path: str, folder: str) -> bool:
    """Whether an absolute path without symbolic links is a folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_for_client() -> bool:
    """Whether a client has made the current request, so that its files are restricted."""
    return isinstance(_CURRENT.get(), _Client)


def check_access(path: Path, named: str = "") -> None:
    """Reject a path that the client of the current request may not name, or that links elsewhere.

    The answer does not depend on whether the file exists. `named` is the path or URI in the
    message.
    """
    current = _CURRENT.get()
    if isinstance(current, _Client):
        current.check(named or str(path), os.path.realpath(path))
    elif current is not None:
        current.add(os.path.realpath(path))


def _check_opened(real: str, named: str) -> None:
    """As `check_access`, of a file that is open; the system has resolved its links."""
    current = _CURRENT.get()
    if isinstance(current, _Client):
        current.check(named, os.path.realpath(real))
    elif current is not None:
        current.add(real)


def recorded_inputs() -> AbstractContextManager[None]:
    """Record the files that this thread reads in the block, for `is_input`."""
    return _block(set())


def is_input(path: Path) -> bool:
    """Whether a file was read in the current block, by this path, a link or another hard link."""
    current = _CURRENT.get()
    if not isinstance(current, set):
        return False
    with suppress(OSError, ValueError):
        status = os.stat(path)
        return any(
            os.path.exists(read) and os.path.samestat(os.stat(read), status) for read in current
        )
    return False


def allow_folder(folder: Path) -> None:
    """Allow the client of the current request a folder with copies of what it may name."""
    client, real = _CURRENT.get(), os.path.realpath(folder)
    if isinstance(client, _Client) and real not in client.folders:
        client.folders.append(real)


def read_file(
    path: Path, kind: str = "file", *, largest: SizeLimit = LARGEST_FILE, first: int | None = None
) -> bytes:
    """Read a regular file, as `open_file` opens it, of a limited size.

    With `first`, that many bytes of its beginning are read, whatever its size.
    """
    limit = largest.value if first is None else first
    with open(open_file(path, kind), "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if first is None and size > limit:
            raise _too_large(path, kind, limit)
        try:
            content = _read(file, size, limit if first is not None else limit + 1)
        except OSError as error:
            raise UserInputError(f"{kind} '{path}' cannot be read: {error.strerror}") from error
        except MemoryError:
            raise UserInputError(
                f"{kind} '{path}' cannot be read: its {size} bytes do not fit into the memory"
            ) from None
    if first is None and len(content) > limit:
        raise _too_large(path, kind, limit)
    if content.startswith(_LFS):
        raise UserInputError(
            f"{kind} '{path}' is a placeholder of Git LFS; `git lfs pull` in its repository gets "
            "the content"
        )
    return content


def _read(file: FileIO, size: int, most: int) -> bytes:
    """Read at most `most` bytes of a file that states a size, which need not be true.

    Files grow, and /proc has no sizes.
    """
    blocks: list[bytes] = []
    left, expected = most, size
    # A file that would wait for data reads as None.
    while left and (block := file.read(min(left, max(expected, _BLOCK_BYTES)))):
        blocks.append(block)
        left -= len(block)
        expected -= len(block)
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def _too_large(path: Path, kind: str, limit: int) -> UserInputError:
    return UserInputError(f"{kind} '{path}' is too large: at most {limit} bytes are read")


def open_file(path: Path, kind: str = "file") -> int:
    """Open a regular file for reading, and return its descriptor.

    It is checked after it was found, so that it cannot be exchanged between the check and the
    reading. Devices and named pipes are not opened.
    """
    try:
        if is_for_client():
            check_access(path)
        # A handle of the path: getting it waits for no writer, and has no effect on a device.
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            found = f"/proc/self/fd/{handle}"
            _check_opened(os.readlink(found), str(path))
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise MissingFileError(
                    f"{kind} '{path}' is {_kind(mode)}; only regular files are read"
                )
            return os.open(found, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        finally:
            os.close(handle)
    except UserInputError:
        raise
    except FileNotFoundError:
        raise MissingFileError(f"{kind} '{path}' does not exist") from None
    except (OSError, ValueError) as error:
        raise UserInputError(f"{kind} '{path}' cannot be read: {reason_of(error)}") from error


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason of an error of a file; a path with NUL is a ValueError."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _kind(mode: int) -> str:
    for test, kind in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return kind
    return "a device"
