"""Name and description in the header of a model or scene file."""

import re
from contextlib import suppress
from xml.etree import ElementTree

from mujoco_ros.model.naming import to_name

_BEGIN = 1 << 16
_XML_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_YAML_COMMENT = re.compile(r"((?:\s*#[^\n]*\n)+)")
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


class _Root:
    """Records the first element of an XML text."""

    def __init__(self) -> None:
        self.tag = ""
        self.attributes: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.tag:
            self.tag, self.attributes = tag, attributes


def root_element(text: str) -> tuple[str, str]:
    """Return tag and name of the first element of an XML text; empty where there is none."""
    builder = _Root()
    parser = ElementTree.XMLParser(target=builder)
    with suppress(ElementTree.ParseError, ValueError):
        parser.feed(text[:_BEGIN])
    named = builder.attributes.get("model" if builder.tag == "mujoco" else "name", "")
    return builder.tag, to_name(named)


def header_comment(text: str) -> str:
    """Return the first sentence of the first comment in an XML or YAML text; empty if none."""
    begin = text[:_BEGIN]
    found = (_XML_COMMENT if begin.lstrip().startswith("<") else _YAML_COMMENT).search(begin)
    if found is None:
        return ""
    words = " ".join(found.group(1).replace("#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence.group() if sentence else words
