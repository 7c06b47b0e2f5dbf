"""Expressions of xacro files, which reach numbers, texts and lists, and nothing that runs commands.

The check of xacro 2.1.1 covers neither names inside lambdas and comprehensions, nor the frames of
generators, nor what ``str.format`` reaches; its ``$(eval …)`` has all of Python's functions. Here
every attribute is read by `_attribute`, which admits only the attributes of plain values.
"""

import ast
import builtins
import string
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache, partial
from types import CodeType
from typing import Any

_READER = "__attribute"
"""Name of the function that reads attributes, which no expression can contain."""
_FORBIDDEN = "__"
"""Beginning of names that expressions cannot contain."""
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
        """Set the classes of xacro whose attributes are their items.

        Args:
            mappings: Classes of mappings without other attributes, such as name spaces.
            records: Classes of dictionaries and lists with attributes of their own, too.
        """
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

        Args:
            text: The expression.
            symbols: Its names; two names that expressions cannot contain are added.
            local: Further names, which precede, but not inside lambdas and comprehensions.
            functions: Python's functions that it may call; None for none.

        Raises:
            ForbiddenExpressionError: It contains a name or an attribute that is not admitted.
            Exception: Any other, as the expression raises it.
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
