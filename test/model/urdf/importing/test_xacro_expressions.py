"""Expressions of xacro files: what they compute, and that they reach nothing that runs commands."""

from typing import Any

import pytest

from mujoco_ros.model.urdf.importing.xacro_file import (
    FUNCTIONS,
    Evaluator,
    ForbiddenExpressionError,
)


class Names(dict):
    """A mapping whose attributes are its items, as name spaces of xacro."""

    def secret(self) -> str:
        return "secret"


class Record(dict):
    """A dictionary with its items as attributes, as those of YAML files."""

    __getattr__ = dict.__getitem__


EVALUATOR = Evaluator((Names,), (Record,))


def value(text: str, **symbols: Any) -> Any:
    return EVALUATOR.evaluate(text, FUNCTIONS | symbols)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 2 * (3 + 4) ", 14),
        ("[x.upper() for x in 'ab' if x]", ["A", "B"]),
        ("(lambda a, b=2: a + b)(1)", 3),
        ("{'a': 1}.get('b', 5)", 5),
        ("'x,y'.split(',')[-1]", "y"),
        ("f'{1 + 1:03d}'", "002"),
        ("'%s-%d' % ('a', 2)", "a-2"),
        ("'{:.2f} {n} {0[1]}'.format([3, 4], n=5) if False else '{:.1f}'.format(2.0)", "2.0"),
        ("'{0[1]} {n:03d} {0!r:>8}'.format([3, 4], n=5)", "4 005   [3, 4]"),
        ("'{a[b]}'.format_map({'a': {'b': 1}})", "1"),
        ("dict.fromkeys('ab', 0)", {"a": 0, "b": 0}),
        ("names.value + names._private", 3),
        ("record.value + len(record.keys()) + record._private", 6),
        ("record.inner.value", 7),
        ("[y := 1, y + 1][1]", 2),
        ("(1.5).is_integer() or (3).bit_length()", 2),
    ],
)
def test_values_of_expressions(text, expected):
    names = Names(value=1, _private=2)
    record = Record(value=1, _private=2, inner=Record(value=7))
    assert value(text, names=names, record=record) == expected


@pytest.mark.parametrize(
    "text",
    [
        "().__class__",
        "(lambda: ().__class__)()",
        "(lambda: [c for c in ().__class__.__mro__[1].__subclasses__()])()",
        "[[().__class__ for a in 'a'] for b in 'b']",
        "(lambda x=().__class__: x)()",
        "f'{().__class__}'",
        "f'{1:{().__class__}}'",
        "(x for x in 'a').gi_frame",
        "[g.gi_frame.f_back for g in [(x for x in 'a')]]",
        "(lambda g: g.gi_code)((x for x in 'a'))",
        "(lambda: (yield))()",
        "function.func_globals",
        "function.__globals__",
        "__builtins__",
        "__attribute(1, 'real')",
        "(lambda __builtins__: 1)(2)",
        "(lambda __attribute: 1)(2)",
        "[__x := 1]",
        "'{0.gi_frame}'.format((x for x in 'a'))",
        "'{0.__class__}'.format(1)",
        "'{0[0].real}'.format([1])",
        "'{0:{1.real}}'.format(1, 2)",
        "'{a.real}'.format_map({'a': 1})",
        "str.format('{0.real}', 1)",
        "list(map(str.format, ['{0.real}'], [1]))",
        "int.mro()",
        "names.secret.real",
        "evaluate.real",
        "abs.real",
        "''.join.real",
        "object_.attribute",
        "type_of(type_of)",
        "type_of(object_)",
    ],
)
def test_what_runs_commands_is_not_reached(text):
    class Object:
        attribute = "secret"

    symbols = {
        "function": lambda: 1,
        "object_": Object(),
        "names": Names(secret=lambda: 1),
        "evaluate": EVALUATOR.evaluate,
        "type_of": EVALUATOR.type_of,
    }
    with pytest.raises(ForbiddenExpressionError, match="not available"):
        value(text, **symbols)


def test_the_methods_of_a_name_space_are_not_its_attributes():
    with pytest.raises(NameError, match="'secret' is not defined"):
        value("names.secret", names=Names())
    with pytest.raises(NameError, match="'update' is not defined"):
        value("names.update", names=Names())


def test_the_type_of_a_value_is_no_way_to_make_classes():
    assert value("type_of(1) == int", type_of=EVALUATOR.type_of)
    with pytest.raises(ForbiddenExpressionError, match="the type of a type is not available"):
        value("type_of(int)('X', (), {})", type_of=EVALUATOR.type_of)


def test_no_function_is_available_that_is_not_given():
    for name in ("open", "exec", "eval", "getattr", "vars", "type", "__import__", "globals"):
        with pytest.raises((NameError, ForbiddenExpressionError)):
            EVALUATOR.evaluate(f"{name}('a')", {}, None, FUNCTIONS)
        with pytest.raises((NameError, ForbiddenExpressionError)):
            EVALUATOR.evaluate(f"[{name}('a') for x in 'a']", {}, {}, FUNCTIONS)


def test_a_name_cannot_replace_the_reader_of_attributes():
    symbols = FUNCTIONS | {"__attribute": lambda *_: "replaced", "__builtins__": {"a": 1}}
    assert EVALUATOR.evaluate("'a'.upper()", symbols) == "A"
    with pytest.raises(NameError):
        EVALUATOR.evaluate("a", symbols)


@pytest.mark.parametrize("text", [f"{'(' * 5000}1{')' * 5000}", f"{'-' * 100_000}1"])
def test_deep_expressions_are_errors(text):
    with pytest.raises((ForbiddenExpressionError, SyntaxError, RecursionError)):
        value(text)
