"""A report as plain text."""

from collections.abc import Iterable, Iterator

from mujoco_ros.inspection.sections import Section


def text_page(parts: Iterable[Section]) -> str:
    """Return sections as text, with their tables in columns."""
    return "\n".join(line for part in parts for line in (*_lines(part), "")).rstrip() + "\n"


def _lines(part: Section) -> Iterator[str]:
    yield part.title
    yield "-" * len(part.title)
    yield from part.lines
    if part.rows:
        table = (part.header, *part.rows)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join(cells).rstrip()
