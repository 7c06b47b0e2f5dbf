"""Strict reading of configuration: unknown keys, wrong types and wrong values are errors."""

import math
import re
import reprlib
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file

T = TypeVar("T")

_KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}
_MAX_CHARACTERS = 1 << 20  # characters of a YAML text; a megabyte takes seconds to read
_MAX_VALUES = 100_000
"""Values of a YAML text, where an alias counts as all values that it stands for."""
_MAX_DIGITS = 80  # characters of an integer; 64 bits have 64 digits at most


class _UniqueKeyLoader(yaml.SafeLoader):
    """PyYAML's safe loader, for which a repeated key and too many values are errors."""

    def get_single_node(self) -> yaml.Node | None:
        """Return the document, before aliases and merged keys multiply its values."""
        document = super().get_single_node()
        if document is not None:
            _check_size(document, {})
        return document


def _check_size(node: yaml.Node, sizes: dict[yaml.Node, int]) -> int:
    """Return the number of values of a node; `sizes` has the numbers of other nodes."""
    if sizes.get(node) == 0:
        raise UserInputError(f"line {node.start_mark.line + 1}: a value contains itself")
    if node not in sizes:
        sizes[node] = 0
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        if isinstance(node, yaml.MappingNode):
            inner = chain.from_iterable(node.value)
        total = 1
        for value in inner:
            total += _check_size(value, sizes)
            if total > _MAX_VALUES:
                raise UserInputError(
                    f"too large: more than {_MAX_VALUES} values, aliases included; "
                    f"limit {_MAX_VALUES}"
                )
        sizes[node] = total
    return sizes[node]


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):  # rejected as a key
            continue
        if key.value in seen:
            raise UserInputError(
                f"line {key.start_mark.line + 1}: key '{key.value}' is given twice"
            )
        seen.add(key.value)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


class _MergingLoader(_UniqueKeyLoader):
    """A loader for which a repeated key has the union of its mappings, as for rcl."""


def _merged_mapping(loader: _MergingLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    found: dict[Any, Any] = {}
    for pair in node.value:
        if not isinstance(pair[0], yaml.ScalarNode):
            raise UserInputError(f"line {pair[0].start_mark.line + 1}: a key is no text")
        key, value = (loader.construct_object(part, deep=True) for part in pair)
        found[key] = _merged(found[key], value) if key in found else value
    return found


def _merged(first: Any, second: Any) -> Any:
    """Return the union of two mappings; of other values, the second."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return second
    both = {key: _merged(first[key], second[key]) for key in first.keys() & second.keys()}
    return {**first, **second, **both}


def _integer(loader: _UniqueKeyLoader, node: yaml.ScalarNode) -> int:
    """Return an integer of 64 bits; others take long to convert and to print."""
    value = 1 << 63 if len(node.value) > _MAX_DIGITS else loader.construct_yaml_int(node)
    if not -(1 << 63) <= value < 1 << 63:
        raise UserInputError(
            f"line {node.start_mark.line + 1}: the integer {node.value[:_MAX_DIGITS]} has more "
            "than 64 bits"
        )
    return int(value)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
_UniqueKeyLoader.add_constructor("tag:yaml.org,2002:int", _integer)
_MergingLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _merged_mapping)
# 1e-3 is a text in YAML 1.1, which PyYAML implements, and a number in YAML 1.2.
_UniqueKeyLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


def read_text(path: Path) -> str:
    """Read a UTF-8 text file."""
    try:
        return read_file(path, largest=LARGEST_TEXT).decode()
    except UnicodeDecodeError as error:
        raise UserInputError(f"{path}: cannot be read: it is not UTF-8 text") from error


def read_yaml(path: Path, *, merges: bool = False) -> Any:
    """Read a YAML file of plain data; see `parse_yaml`."""
    return parse_yaml(read_text(path), str(path), merges=merges)


def parse_yaml(text: str, where: str, *, merges: bool = False) -> Any:
    """Read plain data from a YAML text; `where` begins error messages.

    A repeated key is an error, unless it `merges` the mappings, as in ROS parameter files.
    """
    if len(text) > _MAX_CHARACTERS:
        raise UserInputError(
            f"{where}: too large: {len(text)} characters of YAML, limit {_MAX_CHARACTERS}"
        )
    try:
        return yaml.load(text, Loader=_MergingLoader if merges else _UniqueKeyLoader)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserInputError(f"{where}: not valid YAML: {_yaml_problem(error)}") from error


def _yaml_problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    parts = (getattr(error, "context", None), getattr(error, "problem", None))
    return f"line {mark.line + 1}: {', '.join(part for part in parts if part)}"


def from_dict(cls: type[T], data: Any, where: str) -> T:
    """Build a dataclass of scalars, enums, literals, tuples, optionals, mappings or dataclasses.

    `where` is the place of the data, e.g. ``"zoo.yaml: robots[1]"``, and begins error messages.
    """
    if not isinstance(data, Mapping):
        raise UserInputError(f"{where}: expected a mapping, got {_shown(data)}")
    _check_keys(cls, data, where)
    for field in fields(cls):  # type: ignore[arg-type]
        is_required = field.default is MISSING and field.default_factory is MISSING
        if is_required and field.name not in data:
            raise UserInputError(f"{where}: key '{field.name}' is missing")
    return _built(cls, cls, data, where)


def updated(config: T, changes: Mapping[str, Any], where: str) -> T:
    """Return a copy of a dataclass with new values of some fields, checked as by `from_dict`."""
    _check_keys(type(config), changes, where)
    return _built(type(config), partial(replace, config), changes, where)  # type: ignore[type-var]


def _check_keys(cls: type, data: Mapping[str, Any], where: str) -> None:
    known = [field.name for field in fields(cls)]
    for key in data:
        if key not in known:
            raise unknown("key", str(key), known, where=where)


def _built(cls: type[T], make: Callable[..., T], data: Mapping[str, Any], where: str) -> T:
    hints = get_type_hints(cls)
    values = {key: convert(hints[key], value, f"{where}.{key}") for key, value in data.items()}
    try:
        return make(**values)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error
    except (SystemExit, GeneratorExit) as error:  # classes of users must not end the process
        raise UserInputError(f"{where}: {cls.__name__} raised {error!r}") from error


def convert(kind: Any, value: Any, where: str) -> Any:
    """Return a value converted to a type annotation, checked as by `from_dict`."""
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        kinds = [member for member in get_args(kind) if member is not type(None)]
        if value is None and len(kinds) < len(get_args(kind)):
            return None
        return convert(_chosen(kinds, value, where), value, where)
    if origin is Literal:
        return _choice(value, list(get_args(kind)), where)
    if origin is tuple:
        return _sequence(get_args(kind), value, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise UserInputError(f"{where}: expected a mapping, got {_shown(value)}")
        return {str(k): convert(get_args(kind)[1], v, f"{where}.{k}") for k, v in value.items()}
    if is_dataclass(kind):
        return from_dict(kind, value, where)  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(_choice(value, [member.value for member in kind], where))
    return _scalar(kind, value, where)


def _chosen(kinds: list[Any], value: Any, where: str) -> Any:
    """Return which of several types a value has."""
    if len(kinds) == 1:
        return kinds[0]
    if isinstance(value, list):
        lists = [member for member in kinds if get_origin(member) is tuple]
        if lists:
            return lists[0]
    if type(value) in kinds:
        return type(value)
    if type(value) is int and float in kinds:
        return float
    names = ", ".join(_KINDS.get(member, "a list") for member in kinds)
    raise UserInputError(f"{where}: expected {names}; got {_shown(value)}")


def _scalar(kind: type, value: Any, where: str) -> Any:
    if kind is float and type(value) is int and abs(value) < 1 << 1023:
        value = float(value)
    if type(value) is not kind:
        quote = "; write it in quotes" if kind is str and type(value) in (int, float, bool) else ""
        raise UserInputError(f"{where}: expected {_KINDS[kind]}, got {_shown(value)}{quote}")
    if isinstance(value, float) and not math.isfinite(value):
        raise UserInputError(f"{where}: expected a finite number, got {value}")
    return value


def _choice(value: Any, choices: list[Any], where: str) -> Any:
    if value not in choices:
        raise UserInputError(
            f"{where}: {_shown(value)} is not one of {', '.join(str(c) for c in choices)}"
        )
    return value


def _sequence(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise UserInputError(f"{where}: expected a list, got {_shown(value)}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise UserInputError(f"{where}: expected {len(kinds)} values, got {len(value)}")
    return tuple(
        convert(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True))
    )


def _shown(value: Any) -> str:
    # Not repr(): YAML aliases can give a small file an endless repr.
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    text = short.repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
