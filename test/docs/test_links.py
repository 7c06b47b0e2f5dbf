"""Whatever a Markdown file links to exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
# What MuJoCo's pictures may weigh: a README is looked at over slow lines as well.
LARGEST_PICTURE = 400_000


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links(page: Path) -> list[str]:
    return [markdown or html for markdown, html in LINK.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.M)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} does not exist"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize("picture", sorted(ROOT.glob("docs/images/*")), ids=lambda path: path.name)
def test_every_picture_is_shown_and_light(picture):
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    assert picture in shown, "no page shows it"
    assert picture.stat().st_size < LARGEST_PICTURE


def test_every_page_in_docs_is_reached_from_the_readme():
    reached = {(ROOT / link.partition("#")[0]).resolve() for link in links(ROOT / "README.md")}
    assert set(ROOT.glob("docs/**/*.md")) <= reached
