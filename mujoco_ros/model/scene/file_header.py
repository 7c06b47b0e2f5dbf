"""Name and description in the header of a model or scene file."""

import re
from contextlib import suppress
from io import StringIO
from xml.etree import ElementTree

from mujoco_ros.model.naming import to_name

HEADER_CHARACTERS = 1 << 16
"""Length of the part of a file in which its header is."""

_XML_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_YAML_COMMENT = re.compile(r"((?:\s*#[^\n]*\n)+)")
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
    found = (_XML_COMMENT if begin.lstrip().startswith("<") else _YAML_COMMENT).search(begin)
    if found is None:
        return ""
    words = " ".join(found.group(1).replace("#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence.group() if sentence else words
