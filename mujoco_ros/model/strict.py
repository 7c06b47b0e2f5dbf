"""Strict reading of configuration: keys, types and values are checked, the culprit is named."""

import math
import re
import reprlib
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from mujoco_ros.model.errors import UserInputError, unknown

T = TypeVar("T")

_KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}


class _UniqueKeyLoader(yaml.SafeLoader):
    """PyYAML's safe loader, except that a key given twice is an error."""


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: list[Any] = []
    for key, _ in node.value:
        if key.value in seen:
            raise UserInputError(
                f"line {key.start_mark.line + 1}: key '{key.value}' is given twice"
            )
        seen.append(key.value)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
# YAML 1.1, which PyYAML reads, takes 1e-3 for a text; YAML 1.2 takes it for a number.
_UniqueKeyLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        ModelError: The file is missing, unreadable, or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserInputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserInputError(f"{path}: cannot be read: it is not UTF-8 text") from error


def read_yaml(path: Path) -> Any:
    """Read a YAML file of plain data.

    Raises:
        ModelError: The file is missing, unreadable, not YAML, or gives a key twice.
    """
    return parse_yaml(read_text(path), str(path))


def parse_yaml(text: str, where: str) -> Any:
    """Read plain data from a YAML text.

    Args:
        text: The text.
        where: What it is, put in front of messages.

    Raises:
        ModelError: It is not YAML, or gives a key twice.
    """
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)
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
    """Build the dataclass `cls` from plain data.

    Args:
        cls: A dataclass of scalars, enums, literals, tuples, optionals, mappings or dataclasses.
        data: What the YAML held.
        where: Place of `data`, e.g. ``"zoo.yaml: robots[1]"``; starts every message.

    Raises:
        ModelError: An unknown or missing key, a wrong type, or a value the class itself refuses.
    """
    if not isinstance(data, Mapping):
        raise UserInputError(f"{where}: expected a mapping, got {_shown(data)}")
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    for key in data:
        if key not in known:
            raise unknown("key", str(key), known, where=where)
    for name, field in known.items():
        if name not in data and field.default is MISSING and field.default_factory is MISSING:
            raise UserInputError(f"{where}: key '{name}' is missing")
    hints = get_type_hints(cls)
    values = {key: _convert(hints[key], value, f"{where}.{key}") for key, value in data.items()}
    try:
        return cls(**values)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error


def updated(config: T, changes: Mapping[str, Any], where: str) -> T:
    """Return a copy of a dataclass with some of its values changed, all checked as by `from_dict`.

    Args:
        config: The dataclass.
        changes: New values by field, as plain data.
        where: What it is; starts every message.

    Raises:
        ModelError: An unknown key, a wrong type, or a value the class itself refuses.
    """
    hints = get_type_hints(type(config))
    for key in changes:
        if key not in hints:
            raise unknown("key", key, hints, where=where)
    values = {key: _convert(hints[key], value, f"{where}.{key}") for key, value in changes.items()}
    try:
        return replace(config, **values)  # type: ignore[type-var]
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Check `value` against the type annotation `kind` and return it converted."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _convert(next(k for k in get_args(kind) if k is not type(None)), value, where)
    if origin is Literal:
        return _choice(value, list(get_args(kind)), where)
    if origin is tuple:
        return _sequence(get_args(kind), value, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise UserInputError(f"{where}: expected a mapping, got {_shown(value)}")
        return {str(k): _convert(get_args(kind)[1], v, f"{where}.{k}") for k, v in value.items()}
    if is_dataclass(kind):
        return from_dict(kind, value, where)  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(_choice(value, [member.value for member in kind], where))
    return _scalar(kind, value, where)


def _scalar(kind: type, value: Any, where: str) -> Any:
    if kind is float and type(value) is int and abs(value) < 1 << 1023:
        value = float(value)
    if type(value) is not kind:
        raise UserInputError(f"{where}: expected {_KINDS[kind]}, got {_shown(value)}")
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
        _convert(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True))
    )


def _shown(value: Any) -> str:
    # Not repr(): aliases can make a small YAML file an endless text.
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    text = short.repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
