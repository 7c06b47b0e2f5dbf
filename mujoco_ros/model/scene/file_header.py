"""Name and description in the header of a model or scene file."""

import re
from contextlib import suppress
from io import StringIO
from itertools import dropwhile, takewhile
from xml.etree import ElementTree

from mujoco_ros.model.naming import to_name

HEADER_CHARACTERS = 1 << 16
"""Length of the part of a file in which its header is."""

_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


def root_element(text: str) -> tuple[str, str]:
    """Return tag and name of the first element of an XML text; empty strings if missing."""
    with suppress(ElementTree.ParseError, ValueError):
        _, root = next(ElementTree.iterparse(StringIO(text[:HEADER_CHARACTERS]), events=("start",)))
        return root.tag, to_name(root.get("model" if root.tag == "mujoco" else "name", ""))
    return "", ""


def header_comment(text: str) -> str:
    """Return the first sentence of the first comment in an XML or YAML text; empty if none."""
    begin = text[:HEADER_CHARACTERS]
    comment = (_xml_comment if begin.lstrip().startswith("<") else _yaml_comment)(begin)
    words = " ".join(comment.replace("#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence.group() if sentence else words


def _xml_comment(text: str) -> str:
    comment, end, _ = text.partition("<!--")[2].partition("-->")
    return comment if end else ""


def _yaml_comment(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    comments = dropwhile(lambda line: not line.startswith("#"), lines)
    return " ".join(takewhile(lambda line: not line or line.startswith("#"), comments))
