"""The tags of an XML text, found without parsing it, in time proportional to its length."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TAG = re.compile(
    r"<\s*(?P<slash>/?)\s*(?P<name>[A-Za-z_][\w:.-]*)"
    r"""(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*)>"""
)
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NOT_CONTENT = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))


class Tag(NamedTuple):
    """A tag of an element.

    Attributes:
        name: Name of the element.
        begins: Whether an element begins.
        ends: Whether an element ends; both are true for an empty one.
        text: Its attributes as in the text.
    """

    name: str
    begins: bool
    ends: bool
    text: str

    @property
    def attributes(self) -> Mapping[str, str]:
        """The values of the attributes by name."""
        found = _ATTRIBUTE.findall(self.text)
        return {name: html.unescape(one or other) for name, one, other in found}


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a text up to the first error, which the parser of the text reports."""
    position = text.find("<")
    while position >= 0:
        for begin, end in _NOT_CONTENT:
            if text.startswith(begin, position):
                closed = text.find(end, position + len(begin))
                if closed < 0:
                    return
                position = closed + len(end)
                break
        else:
            found = _TAG.match(text, position)
            if found is None:
                return
            position = found.end()
            attributes, ends = found["attributes"], bool(found["slash"])
            empty = attributes.rstrip().endswith("/")
            yield Tag(found["name"], begins=not ends, ends=ends or empty, text=attributes)
        position = text.find("<", position)
