"""A report as one HTML page without further files."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from mujoco_ros.inspection.sections import Section

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin: 1.6em 0 0.4em }
table { border-collapse: collapse } td, th { padding: 0.1em 0.8em 0.1em 0; text-align: left }
th { border-bottom: 1px solid #888 } tr:nth-child(even) td { background: #f4f4f4 }
figure { display: inline-block; margin: 0 1em 1em 0 } img { max-width: 100%; width: 26em }
p { margin: 0.2em 0; white-space: pre-wrap } .scroll { overflow-x: auto }
"""


def html_page(parts: Sequence[Section], images: Iterable[tuple[str, bytes]], note: str) -> str:
    """Return sections and images as HTML.

    Args:
        parts: The sections; the first one is the head of the page.
        images: Caption and PNG of each image.
        note: Text instead of images, if there are none; empty for nothing.
    """
    first, *others = parts
    body = [f"<h1>{escape(first.title)}</h1>", *_paragraphs(first)]
    for caption, png in images:
        data = b64encode(png).decode()
        image = f'<img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        body.append(f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>")
    if note:
        body.append(f"<p>{escape(note)}</p>")
    for part in others:
        body += [f"<h2>{escape(part.title)}</h2>", *_paragraphs(part), *_table(part)]
    head = f'<meta charset="utf-8"><title>{escape(first.title)}</title><style>{_STYLE}</style>'
    content = "\n".join(body)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{content}\n</body></html>\n'
    )


def _paragraphs(part: Section) -> Iterator[str]:
    for line in part.lines:
        yield f"<p>{escape(line)}</p>"


def _table(part: Section) -> Iterator[str]:
    if not part.rows:
        return
    yield '<div class="scroll"><table><tr>'
    yield "".join(f"<th>{escape(cell)}</th>" for cell in part.header)
    for row in part.rows:
        yield "</tr><tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row)
    yield "</tr></table></div>"
