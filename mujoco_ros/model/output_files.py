"""Files that programs write: each appears with all of its content, or not at all.

Only logs and bags, which grow for hours, are written under their own names.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import is_input, is_within, reason_of

UNFINISHED = ".unfinished-"
"""Start of the name of a file that is being written, where the file system demands a name."""
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""Start of the names of files that another program has opened."""
_PRIVATE = 0o600


class OutputFile:
    """A file that appears with all of its content when it is finished, and otherwise not at all.

    Until then a former file of that name is as before. Where the file system allows it, the new one
    has no name until then: nothing remains of it if the process is killed. A device or a named
    pipe is written to directly.

    Attributes:
        path: Its path; a symbolic link stays, and the file that it names is replaced.
    """

    file: BinaryIO

    def __init__(self, path: Path, *, replaces: bool = True, mode: int = 0o666) -> None:
        """Replace a file or not; the umask restricts the permissions `mode` of a new one."""
        self.path, self._replaces, self._mode = path, replaces, mode
        self._closing = ExitStack()
        self._name = ""

    def __enter__(self) -> "OutputFile":
        """Open the file."""
        with ExitStack() as stack, _named(self.path):
            self._is_stream = self._replaces and _is_stream(self.path)
            if self._is_stream:
                self.file = stack.enter_context(self.path.open("wb"))
            else:
                self._open(stack)
            self._closing = stack.pop_all()
        return self

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        with suppress(OSError):  # the rest of a file that is deleted, on a full disk
            self._closing.close()
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(self.path)

    @property
    def folder(self) -> Path:
        """The folder that is open, without symbolic links."""
        return Path(os.readlink(f"/proc/self/fd/{self._folder}"))

    def finish(self) -> None:
        """Give the file its name."""
        with _named(self.path):
            self.file.flush()
            if self._is_stream:
                return
            os.fsync(self.file.fileno())
            folder, name = self._folder, self._target.name
            if not self._replaces:
                new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                os.close(os.open(name, new, _PRIVATE, dir_fd=folder))
            try:
                if not self._name:
                    self._name = _unfinished()
                    os.link(f"/proc/self/fd/{self.file.fileno()}", self._name, dst_dir_fd=folder)
                os.replace(self._name, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                if not self._replaces:
                    os.unlink(name, dir_fd=folder)
                raise
            with suppress(OSError):  # a folder that may not be read
                _sync(self._target.parent)

    def _open(self, stack: ExitStack) -> None:
        self._target = Path(os.path.realpath(self.path)) if self._replaces else self.path
        if not self._replaces and os.path.lexists(self.path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        handle = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        self._folder = os.open(self._target.parent, handle)
        stack.callback(os.close, self._folder)
        stack.callback(self._remove)
        self.file = stack.enter_context(os.fdopen(self._create(), "w+b"))
        with suppress(FileNotFoundError):
            before = os.stat(self._target)
            if stat.S_ISDIR(before.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not os.access(self._target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            with suppress(PermissionError):
                os.fchown(self.file.fileno(), before.st_uid, before.st_gid)
            os.fchmod(self.file.fileno(), stat.S_IMODE(before.st_mode))

    def _create(self) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC
        with suppress(OSError):  # a file system or kernel without O_TMPFILE
            return os.open(".", flags | os.O_TMPFILE, self._mode, dir_fd=self._folder)
        name = _unfinished()
        flags |= os.O_CREAT | os.O_EXCL
        descriptor = os.open(name, flags, self._mode, dir_fd=self._folder)
        self._name = name
        return descriptor

    def _remove(self) -> None:
        if self._name:
            with suppress(FileNotFoundError):  # it has its own name now
                os.unlink(self._name, dir_fd=self._folder)


@contextmanager
def output_file(path: Path, kind: str = "file") -> Iterator[BinaryIO]:
    """Yield an `OutputFile` that is finished at the end of the block.

    Another file of that name is replaced, unless this program has read it.
    """
    check_output(path, kind)
    with _reported(path, kind), OutputFile(path) as output:
        yield output.file
        check_output(path, kind)
        output.finish()


def write_whole(path: Path, content: str | bytes, kind: str = "file") -> None:
    """Write a file as `output_file` does."""
    with output_file(path, kind) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def check_output(path: Path, kind: str = "file") -> None:
    """Reject an output that would replace an input, by whatever name."""
    if is_input(path):
        raise UserInputError(
            f"{kind} '{path}' is not written: it is an input, or a file that an input names; "
            "choose another output"
        )


@contextmanager
def complete_file(path: Path, kind: str, *, below: Path | None = None) -> Iterator[BinaryIO]:
    """Yield a new file that only its user can read, as `output_file`.

    With `below`, it must be below that folder, which is created, after symbolic links are followed.
    """
    if below is not None:
        create_folder(below)
    with _reported(path, kind), OutputFile(path, replaces=False, mode=_PRIVATE) as output:
        if below is not None:
            check_below(output.folder / path.name, below, kind)
        yield output.file
        output.finish()


@contextmanager
def complete_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder, which gets its name at the end of the block."""
    with _reported(path, "folder"):
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with TemporaryDirectory(prefix=UNFINISHED, dir=path.absolute().parent) as beside:
            folder = Path(beside) / "new"
            folder.mkdir()
            yield folder
            os.rename(folder, path)


def create_file(path: Path, kind: str, *, below: Path | None = None) -> int:
    """Create a file that only its user can read, and return its descriptor, for writing.

    It has the arguments and errors of `complete_file`.
    """
    if below is not None:
        create_folder(below)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with _reported(path, kind, "created"):
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if below is not None:
                check_below(Path(os.readlink(f"/proc/self/fd/{folder}")) / path.name, below, kind)
            return os.open(path.name, flags, _PRIVATE, dir_fd=folder)
        finally:
            os.close(folder)


def locked(folder: Path) -> int:
    """Return the descriptor of a folder that this process alone has locked; closing it unlocks."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UserInputError(f"another process writes into {folder}") from error
    return descriptor


def create_folder(path: Path) -> None:
    """Create a folder for files that only its user can read, and its parents, where they lack."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, ValueError) as error:
        raise UserInputError(f"folder '{path}' cannot be created: {reason_of(error)}") from error


def check_below(path: Path, folder: Path, kind: str) -> None:
    """Reject a path that is not below a folder, after symbolic links are followed."""
    if not is_within(os.path.realpath(path), os.path.realpath(folder)):
        raise UserInputError(
            f"{kind} '{path}' is not below '{folder}', the only folder in which clients "
            "may have files written"
        )


@contextmanager
def _reported(path: Path, kind: str, what: str = "written") -> Iterator[None]:
    try:
        yield
    except UserInputError:
        raise
    except FileExistsError:
        raise UserInputError(f"{kind} '{path}' exists; it is not overwritten") from None
    except (OSError, ValueError) as error:
        raise UserInputError(f"{kind} '{path}' cannot be {what}: {reason_of(error)}") from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in errors, which have the names of handles or no name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_stream(path: Path) -> bool:
    named = os.path.abspath(path).startswith(_STREAMS)
    return named or (path.exists() and not path.is_file() and not path.is_dir())


def _unfinished() -> str:
    return UNFINISHED + secrets.token_hex(8)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
