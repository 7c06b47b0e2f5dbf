"""The names and the prose of Python source: definitions, comments and strings."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

_WORD_BOUNDARY = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_CODE = re.compile(r"(`+)[^`\n]+\1")


class Passage(NamedTuple):
    """A text and the line where it begins."""

    line: int
    text: str


def words(identifier: str) -> str:
    """Return the words of an identifier in snake case or camel case, separated by spaces."""
    return " ".join(filter(None, _WORD_BOUNDARY.split(identifier)))


def passages(source: str) -> Iterator[Passage]:
    """Yield the defined names, as words, and the comments and strings of a file.

    Names of other libraries, which the file only uses, and code in backticks are left out.
    """
    nodes = list(ast.walk(ast.parse(source)))
    yield from (Passage(line, words(name)) for line, name in _definitions(nodes))
    for line, text in (*_strings(nodes), *_comments(source)):
        yield Passage(line, _CODE.sub("", text))


def public_classes(source: str) -> Iterator[Passage]:
    """Yield the public classes of a module; nested classes have qualified names."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield Passage(node.lineno, node.name)


def _definitions(nodes: list[ast.AST]) -> Iterator[Passage]:
    for node in nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield Passage(node.lineno, name)
            case ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield Passage(node.lineno, name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield Passage(node.lineno, name)
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield Passage(node.lineno, name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield Passage(node.lineno, name)
            case ast.MatchMapping(rest=str(name)):
                yield Passage(node.lineno, name)


def _strings(nodes: list[ast.AST]) -> Iterator[Passage]:
    """Yield the strings; adjacent ones and the parts of an f-string are one text."""
    inside_f_strings: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            inside_f_strings.update(map(id, node.values))
            constants = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield Passage(node.lineno, "".join(constants))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside_f_strings
        ):
            yield Passage(node.lineno, node.value)


def _comments(source: str) -> Iterator[Passage]:
    """Yield the comments; those on consecutive lines are one text."""
    begin, lines = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if lines and token.start[0] != begin + len(lines):
            yield Passage(begin, "\n".join(lines))
            lines = []
        if not lines:
            begin = token.start[0]
        lines.append(token.string.lstrip("# "))
    if lines:
        yield Passage(begin, "\n".join(lines))
