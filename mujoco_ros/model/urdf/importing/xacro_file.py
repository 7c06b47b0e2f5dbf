"""Expansion of xacro files."""

import contextlib
import io
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.file_access import check_access

# xacro keeps its state in global variables.
_LOCK = threading.Lock()


class _Arguments(dict[str, str]):
    """Arguments of a file that record which ones it declares."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.declared: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.declared.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.declared.add(name)
        return super().__getitem__(name)


def expand_xacro(path: Path, arguments: Mapping[str, str], find: Callable[[str], Path]) -> str:
    """Return the text of a xacro file with its macros expanded.

    xacro evaluates the expressions of the file, and reads the files that it includes.

    Args:
        path: The file.
        arguments: Values of its ``<xacro:arg>`` elements.
        find: Returns the folder of a package, for ``$(find <package>)``.

    Raises:
        UserInputError: xacro rejects the file, or an argument or a package does not exist.
    """
    try:
        import xacro  # few models need it
    except ImportError as error:
        raise UserInputError(f"{path}: xacro files need the Python package 'xacro'") from error
    given = _Arguments(arguments)
    with _LOCK, _finding(find), contextlib.redirect_stderr(io.StringIO()):
        try:
            document = xacro.process_file(str(path), mappings=given)
        # xacro and the expressions in the file raise exceptions of any type.
        except Exception as error:
            file = next((it for it in reversed(xacro.filestack or []) if it), str(path))
            inside = "" if Path(file) == path else f" (in {file})"
            reason = " ".join(str(error).split()) or type(error).__name__
            lacks = reason.startswith("Undefined substitution argument")
            remedy = "; give it in `xacro_args` of a scene file" if lacks else ""
            raise UserInputError(f"{path}: xacro: {reason}{inside}{remedy}") from error
        for included in xacro.all_includes:  # xacro has read them without `open_file`
            check_access(Path(included))
    for name in arguments:
        if name not in given.declared:
            raise unknown("argument", name, sorted(given.declared), where=str(path))
    return str(document.toprettyxml(indent="  "))


@contextlib.contextmanager
def _finding(find: Callable[[str], Path]) -> Iterator[None]:
    """Let xacro find packages that are not installed."""
    from xacro import substitution_args

    with patch.object(substitution_args, "_eval_find", lambda package: str(find(package))):
        yield
