"""What the file of a model or a scene says of itself, without reading all of it."""

import re
from contextlib import suppress
from xml.etree import ElementTree

from mujoco_ros.model.naming import as_name

_BEGIN = 1 << 16
_XML_REMARK = re.compile(r"<!--(.*?)-->", re.DOTALL)
_YAML_REMARK = re.compile(r"((?:\s*#[^\n]*\n)+)")
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


class _Root:
    """Notes the first element that a parser meets."""

    def __init__(self) -> None:
        self.tag = ""
        self.attributes: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.tag:
            self.tag, self.attributes = tag, attributes


def root_element(text: str) -> tuple[str, str]:
    """Return the tag of an XML text's first element, and the name it gives, fit for ROS.

    Both are empty if it is no XML, the name also if there is none.
    """
    builder = _Root()
    parser = ElementTree.XMLParser(target=builder)
    with suppress(ElementTree.ParseError, ValueError):
        parser.feed(text[:_BEGIN])
    named = builder.attributes.get("model" if builder.tag == "mujoco" else "name", "")
    return builder.tag, as_name(named)


def remark(text: str) -> str:
    """Return the first sentence of the first comment in an XML or YAML text; empty if none."""
    begin = text[:_BEGIN]
    found = (_XML_REMARK if begin.lstrip().startswith("<") else _YAML_REMARK).search(begin)
    if found is None:
        return ""
    words = " ".join(found.group(1).replace("#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence.group() if sentence else words
