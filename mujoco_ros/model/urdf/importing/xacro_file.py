"""Expansion of xacro files.

A file of unknown origin can be expanded: its expressions are restricted, see `Evaluator`, and a
process with limits evaluates them, because a few bytes can ask for any amount of time and memory.
"""

import errno
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import MissingFileError, UserInputError, unknown
from mujoco_ros.model.file_access import LARGEST_TEXT, check_access, read_file
from mujoco_ros.model.urdf.importing.xacro_expressions import FUNCTIONS, Evaluator
from mujoco_ros.process.limited_call import limited_call
from mujoco_ros.process.worker_limits import (
    WorkerDiedError,
    WorkerLimitError,
    WorkerLimits,
    share_of_memory,
)

LIMITS = WorkerLimits(
    processor_s=20.0, wall_s=900.0, memory_bytes=share_of_memory(2, largest=4 << 30)
)
"""Limits of one file; the largest public robots take half a second and 100 MB."""
_TWICE = re.compile(r"<class '[\w.]+'>: (.+?) \1(?!\w)")


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
        UserInputError: xacro rejects the file, an argument or a package does not exist, or a limit
            is exceeded.
    """
    try:
        import xacro  # few models need it
        from xacro import substitution_args  # noqa: F401  the copy of this process imports nothing
    except ImportError as error:
        raise UserInputError(f"{path}: xacro files need the Python package 'xacro'") from error
    expand = partial(_expand, xacro, path, arguments, find)
    try:
        answer = json.loads(limited_call(expand, LIMITS))
    except WorkerLimitError as error:
        raise UserInputError(f"{path}: xacro: it takes more than {error}") from error
    except WorkerDiedError as error:
        raise UserInputError(f"{path}: xacro: its process ended: {error}") from error
    if "error" in answer:
        raise UserInputError(f"{path}: xacro: {answer['error']}")
    for file in answer["files"]:  # read in the copy of this process
        check_access(Path(file))
    for name in arguments:
        if name not in answer["declared"]:
            raise unknown("argument", name, answer["declared"], where=str(path))
    return str(answer["text"])


def _expand(
    xacro: Any, path: Path, arguments: Mapping[str, str], find: Callable[[str], Path]
) -> bytes:
    """Return the text of a file, the arguments that it declares and the files read, or an error.

    All as JSON.
    """
    files: list[str] = []
    _restrict(xacro, find, files)
    given = _Arguments(arguments)
    try:
        with redirect_stderr(io.StringIO()):
            document = xacro.process_file(str(path), mappings=given)
            text = document.toprettyxml(indent="  ")
    except MemoryError:
        raise
    # xacro and the expressions in the file raise exceptions of any type.
    except Exception as error:
        file = next((it for it in reversed(xacro.filestack or []) if it), str(path))
        inside = "" if Path(file) == path else f" (in {file})"
        reason = _reason(error)
        lacks = reason.startswith("Undefined substitution argument")
        remedy = "; give it in `xacro_args` of a scene file" if lacks else ""
        return json.dumps({"error": f"{reason}{inside}{remedy}"}).encode()
    if len(text) > LARGEST_TEXT.at_start:
        what = f"{len(text)} characters after the expansion, limit {LARGEST_TEXT.at_start}"
        return json.dumps({"error": f"too large: {what}"}).encode()
    answer = {"text": text, "declared": sorted(given.declared), "files": files}
    return json.dumps(answer).encode()


def _restrict(xacro: Any, find: Callable[[str], Path], files: list[str]) -> None:
    """Have xacro evaluate expressions by an `Evaluator`, and read regular files only.

    The paths of these are added to `files`.
    """
    evaluator = Evaluator((xacro.NameSpace,), (xacro.YamlDictWrapper, xacro.YamlListWrapper))
    xacro.safe_eval, xacro.open = evaluator.evaluate, partial(_open, files)
    python = xacro._global_symbols["python"]
    python["type"] = evaluator.type_of
    del python["vars"]
    substitutions = xacro.substitution_args
    values = substitutions._eval_dict

    def folder(package: str) -> str:
        return str(find(package))

    def evaluate(text: str, context: Mapping[str, Any]) -> str:
        arguments = context.get("arg", {})
        own = {
            "arg": lambda name: substitutions.convert_value(arguments[name], "auto"),
            "dirname": lambda: substitutions._eval_dirname(context["filename"]),
        }
        names = substitutions._DictWrapper(arguments, {**values, **own})
        return str(evaluator.evaluate(text, {}, names, FUNCTIONS))

    substitutions._eval, substitutions._eval_find = evaluate, folder
    values["find"] = folder


def _open(files: list[str], path: str) -> io.TextIOWrapper:
    """Open a file as ``open`` does for reading, but no device or named pipe; note its path."""
    files.append(path)
    try:
        return io.TextIOWrapper(io.BytesIO(read_file(Path(path), largest=LARGEST_TEXT)))
    except UserInputError as error:
        number = errno.ENOENT if isinstance(error, MissingFileError) else errno.EIO
        what = str(error) if os.path.lexists(path) else os.strerror(number)
        raise OSError(number, what, str(path)) from error


def _reason(error: BaseException) -> str:
    """Return the reason of an exception, which others may wrap.

    Raises:
        MemoryError: It was one.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise cause
        if isinstance(cause, RecursionError):
            return "a macro, a file or an expression contains itself without an end"
        hidden = cause.__suppress_context__
        cause = cause.__cause__ or (None if hidden else cause.__context__)
    # xacro states the type of some exceptions, and their text twice.
    text = _TWICE.sub(r"\1", " ".join(str(error).split()))
    return text or type(error).__name__
