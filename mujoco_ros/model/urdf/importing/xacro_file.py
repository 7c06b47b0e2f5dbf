"""Expansion of xacro files, whose expressions reach numbers, texts and lists only.

The check of xacro 2.1.1 covers neither names inside lambdas and comprehensions, nor the frames of
generators, nor what ``str.format`` reaches; its ``$(eval …)`` has all of Python's functions. Here
every attribute is read by `_attribute`, which admits only the attributes of plain values.

A file of unknown origin can be expanded: its expressions are restricted, see `Evaluator`, and a
process with limits evaluates them, because a few bytes can ask for any amount of time and memory.
"""

import ast
import builtins
import errno
import io
import json
import os
import re
import string
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from datetime import date, datetime
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType
from typing import Any
from xml.dom import UserDataHandler, expatbuilder
from xml.parsers.expat import ExpatError

from mujoco_ros.model.errors import MissingFileError, UserInputError, unknown
from mujoco_ros.model.file_access import LARGEST_TEXT, check_access, read_file
from mujoco_ros.model.packages import source_of
from mujoco_ros.process import limits

_READER = "__attribute"
"""Name of the function that reads attributes, which no expression can contain."""
_FORBIDDEN = "__"  # beginning of names that expressions cannot contain
_NODES = (ast.Await, ast.Yield, ast.YieldFrom)
_PLAIN = {
    *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice),
    *(date, datetime),  # of YAML
}
_FUNCTIONS = (
    *("abs", "all", "any", "bin", "bool", "chr", "complex", "dict", "divmod", "enumerate"),
    *("filter", "float", "frozenset", "hash", "hex", "int", "isinstance", "issubclass", "len"),
    *("list", "map", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed", "round"),
    *("set", "slice", "sorted", "str", "sum", "tuple", "zip"),
)
"""Python's functions for ``$(eval …)``."""
FUNCTIONS = {name: getattr(builtins, name) for name in _FUNCTIONS}


class ForbiddenExpressionError(Exception):
    """An expression contains what expressions must not contain; the message names it."""


class _Formatter(string.Formatter):
    """Formats as ``str.format``, which reads attributes such as ``'{0.__class__}'``."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if "." in field_name:
            raise ForbiddenExpressionError(
                f"'{{{field_name}}}' is not available in expressions: it reads an attribute"
            )
        return super().get_field(field_name, args, kwargs)


_FORMATS: Mapping[str, Callable[[str], Callable[..., str]]] = {
    "format": lambda text: partial(_Formatter().format, text),
    "format_map": lambda text: partial(_Formatter().vformat, text, ()),
}
"""Methods of texts that read attributes."""


class Evaluator:
    """Evaluates expressions."""

    def __init__(self, mappings: tuple[type, ...], records: tuple[type, ...]) -> None:
        # Classes of mappings without other attributes, such as name spaces, and of dictionaries and
        # lists with attributes of their own, too
        self._mappings, self._plain = mappings, frozenset((*_PLAIN, *records))
        self._records = records

    def evaluate(
        self,
        text: str,
        symbols: dict[str, Any],
        local: Mapping[str, Any] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value of an expression.

        Two names that expressions cannot contain are added to `symbols`, its names. `local` names
        precede, but not inside lambdas and comprehensions. `functions` are Python's functions that
        it may call.
        """
        code = _compiled(text.strip())
        # A parameter of a macro may have one of these names, so they are set each time.
        symbols.update({"__builtins__": dict(functions or {}), _READER: self._attribute})
        return eval(code, symbols, local)

    def type_of(self, value: Any) -> type:
        """Return the type of a plain value; in place of ``type``, which also makes classes."""
        kind = type(value)
        if kind not in self._plain and value is not None:
            raise ForbiddenExpressionError(f"the type of a {kind.__name__} is not available")
        return kind

    def _attribute(self, value: Any, name: str) -> Any:
        items: Any = value
        if isinstance(value, self._mappings):
            try:
                return items[name]
            except KeyError:
                raise NameError(f"name '{name}' is not defined") from None
        kind = value if isinstance(value, type) else type(value)
        is_record = isinstance(value, self._records)
        if is_record and isinstance(value, dict) and not hasattr(dict, name):
            return getattr(value, name)
        if isinstance(value, str) and name in _FORMATS:
            return _FORMATS[name](value)
        if (
            kind not in self._plain
            or name.startswith("_")
            or (issubclass(kind, str) and name in _FORMATS)
            or (isinstance(value, type) and name == "mro")
        ):
            raise ForbiddenExpressionError(
                f"attribute '{name}' of a {kind.__name__} is not available in expressions"
            )
        return getattr(value, name)


class _Attributes(ast.NodeTransformer):
    """Replaces ``value.name`` by a call of the function that reads attributes."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self.visit(node.value)
        reader = ast.Name(_READER, ast.Load())
        return ast.copy_location(ast.Call(reader, [value, ast.Constant(node.attr)], []), node)


@lru_cache(maxsize=1 << 14)
def _compiled(text: str) -> CodeType:
    """Return the code of an expression; macros evaluate the same texts many times."""
    try:
        tree = ast.parse(text, "<expression>", "eval")
    except MemoryError:  # which the parser also raises for its stack
        raise ForbiddenExpressionError("it is nested too deeply") from None
    has_attributes = False
    for node in ast.walk(tree):
        name = _NAMES[type(node)](node) if type(node) in _NAMES else ""
        if name.startswith(_FORBIDDEN):
            raise ForbiddenExpressionError(f"'{name}' is not available in expressions")
        if isinstance(node, _NODES):
            raise ForbiddenExpressionError("'yield' and 'await' are not available in expressions")
        has_attributes |= isinstance(node, ast.Attribute)
    if has_attributes:
        tree = ast.fix_missing_locations(_Attributes().visit(tree))
    return compile(tree, "<expression>", "eval")


_NAMES: Mapping[type[ast.AST], Callable[[Any], str]] = {
    ast.Name: lambda node: str(node.id),
    ast.Attribute: lambda node: str(node.attr),
    ast.arg: lambda node: str(node.arg),
}


LIMITS = limits.WorkerLimits(
    processor_s=20.0, wall_s=900.0, memory_bytes=limits.share_of_memory(2, largest=4 << 30)
)
"""Limits of one file; the largest public robots take half a second and 100 MB."""
_TWICE = re.compile(r"<class '[\w.]+'>: (.+?) \1(?!\w)")


_MISSING = re.compile(r".*\[Errno 2\] No such file or directory: ('.+')")
_ROOT = re.compile(r"<robot\b[^>]*>")
_ARGUMENT = re.compile(r"\$\(arg\s+(\w+)\)")
_DEFAULT = re.compile(r"""<xacro:arg\s+name=["'](\w+)["']\s+default=["']([^"'$]*)["']""")
_GIVE_IT = "give it in `xacro_args` of a scene file, or as <file> NAME:=VALUE"
_PLACE = "place"
"""Key of the place of an XML element: file and line."""


class _PlacedElements(expatbuilder.ExpatBuilderNS):
    """Notes the place of each element; the copies of an element in a macro have the same."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def start_element_handler(self, name: str, attributes: Any) -> None:
        super().start_element_handler(name, attributes)
        place = self._file, self.getParser().CurrentLineNumber
        self.curNode.setUserData(_PLACE, place, self)

    def handle(self, operation: int, key: str, place: Any, source: Any, copied: Any) -> None:
        if operation == UserDataHandler.NODE_CLONED:
            copied.setUserData(key, place, self)


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
    """Return the text of a xacro file with its macros expanded, and check its `arguments`.

    xacro evaluates the expressions of the file, and reads the files that it includes. `find`
    returns the folder of a package, for ``$(find <package>)``.
    """
    try:
        import xacro  # few models need it
        from xacro import substitution_args  # noqa: F401  the copy of this process imports nothing
    except ImportError as error:
        raise UserInputError(f"{path}: xacro files need the Python package 'xacro'") from error
    expand = partial(_expand, xacro, path, arguments, find)
    try:
        answer = json.loads(limits.limited_call(expand, LIMITS))
    except limits.WorkerLimitError as error:
        raise UserInputError(f"{path}: xacro: it takes more than {error}") from error
    except limits.WorkerDiedError as error:
        raise UserInputError(f"{path}: xacro: its process ended: {error}") from error
    if "error" in answer:
        raise UserInputError(answer["error"])
    for file in answer["files"]:  # read in the copy of this process
        check_access(Path(file))
    for name in arguments:
        if name not in answer["declared"]:
            raise unknown("argument", name, answer["declared"], where=str(path))
    text = str(answer["text"])
    if "<link" not in text and b":macro" in read_file(path, largest=LARGEST_TEXT):
        raise UserInputError(f"{path}: xacro: no link, only macros; name the file that calls them")
    return text


def _expand(
    xacro: Any, path: Path, arguments: Mapping[str, str], find: Callable[[str], Path]
) -> bytes:
    """Return JSON: the text, the arguments that it declares and the files read; or an error."""
    files: list[str] = []
    _restrict(xacro, find, files)
    given = _Arguments({**_of_root(path), **arguments})
    try:
        with redirect_stderr(io.StringIO()):
            document = xacro.process_file(str(path), mappings=given)
            text = document.toprettyxml(indent="  ")
    except MemoryError:
        raise
    # xacro and the expressions in the file raise exceptions of any type.
    except Exception as error:
        opened = next((opened for opened in reversed(xacro.filestack or []) if opened), str(path))
        syntax = (opened, error.lineno) if isinstance(error, ExpatError) else None
        file, line = syntax or _place(error) or (opened, 0)
        where = f"{file}:{line}" if line else file
        reason = _reason(error)
        remedy = _remedy(reason, given)
        inside = "" if Path(file) == path else f" (in the expansion of {path})"
        return json.dumps({"error": f"{where}: xacro: {reason}{remedy}{inside}"}).encode()
    if len(text) > LARGEST_TEXT.at_start:
        what = f"{len(text)} characters after the expansion, limit {LARGEST_TEXT.at_start}"
        return json.dumps({"error": f"{path}: xacro: too large: {what}"}).encode()
    answer = {"text": text, "declared": sorted(given.declared), "files": files}
    return json.dumps(answer).encode()


def _of_root(path: Path) -> dict[str, str]:
    """Return the defaults of the arguments in the tag of the root.

    xacro evaluates this tag before it reads the defaults, so ``name="$(arg name)"`` would need a
    value from outside.
    """
    with suppress(UserInputError):  # which xacro reports
        text = read_file(path, largest=LARGEST_TEXT).decode(errors="replace")
        if (root := _ROOT.search(text)) is not None:
            used, defaults = set(_ARGUMENT.findall(root.group())), _DEFAULT.findall(text)
            return {name: value for name, value in defaults if name in used}
    return {}


def _remedy(reason: str, arguments: Mapping[str, str]) -> str:
    """Return the end of an error that names the arguments that may be missing."""
    if reason.startswith("Undefined substitution argument"):
        return f"; {_GIVE_IT}"
    empty = [name for name, value in arguments.items() if value == ""]
    if empty and reason.endswith("' not found"):
        return f"; of its arguments, {', '.join(empty)} are empty: if one must not be, {_GIVE_IT}"
    return ""


def _restrict(xacro: Any, find: Callable[[str], Path], files: list[str]) -> None:
    """Have xacro evaluate expressions by an `Evaluator`, and read regular files only.

    The paths of these are added to `files`.
    """
    evaluator = Evaluator((xacro.NameSpace,), (xacro.YamlDictWrapper, xacro.YamlListWrapper))
    parser: Any = expatbuilder
    parser.ExpatBuilderNS = lambda: _PlacedElements(xacro.filestack[-1])
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
    path = str(source_of(Path(path)))
    files.append(path)
    try:
        return io.TextIOWrapper(io.BytesIO(read_file(Path(path), largest=LARGEST_TEXT)))
    except UserInputError as error:
        number = errno.ENOENT if isinstance(error, MissingFileError) else errno.EIO
        what = str(error) if os.path.lexists(path) else os.strerror(number)
        raise OSError(number, what, str(path)) from error


def _place(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of the element that xacro was about to expand; None before the first."""
    found: tuple[str, int] | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node: Any = frame.f_locals.get("node") or frame.f_locals.get("elt")
        elements: tuple[Any, ...] = (node, getattr(node, "parentNode", None))  # that of a text
        places = (e.getUserData(_PLACE) for e in elements if hasattr(e, "getUserData"))
        found = next(filter(None, places), found)
    return found


def _reason(error: BaseException) -> str:
    """Return the reason of an exception, which others may wrap."""
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
    text = _MISSING.sub(r"file \1 not found", text)
    return text or type(error).__name__
