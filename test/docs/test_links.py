"""Every link of a Markdown file has a target, and every image is shown."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
# In bytes: readers have slow connections too.
LARGEST_IMAGE, LARGEST_ANIMATION = 400_000, 3_000_000
LONGEST_README = 130  # lines


@cache
def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links(page: Path) -> list[str]:
    return [markdown or html for markdown, html in LINK.findall(prose(page))]


def targets(page: Path) -> set[Path]:
    return {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}


@cache
def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.M)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def problems_of_links(page: Path) -> Iterator[str]:
    """Yield the relative links of a page that have no target."""
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{link} does not exist"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: no such heading"


def test_every_relative_link_has_a_target() -> None:
    found = [f"{page}: {problem}" for page in PAGES for problem in problems_of_links(page)]
    assert not found, "\n".join(found)


def test_a_link_without_a_target_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Head\n[a](#head) [b](#heed) [c](https://x) ![d](d.png) [e](page.md#Head)\n")
    assert list(problems_of_links(page)) == [
        "#heed: no such heading",
        "d.png does not exist",
        "page.md#Head: no such heading",
    ]


def test_every_path_in_the_package_or_its_tests_exists() -> None:
    missing = [
        f"{page}: {path}"
        for page in PAGES
        for path in re.findall(r"`((?:mujoco_ros|test|benchmark|docs)/[\w/.]+)`", prose(page))
        if not (ROOT / path).exists()
    ]
    assert not missing, "\n".join(missing)


def test_every_image_is_shown_and_small() -> None:
    shown = {target for page in PAGES for target in targets(page)}
    images = set(ROOT.glob("docs/images/*"))
    assert len(images) > 10
    assert images <= shown, "no page shows these"
    for image in images:
        limit = LARGEST_ANIMATION if image.suffix == ".gif" else LARGEST_IMAGE
        assert image.stat().st_size < limit, image


def test_the_readme_links_the_index_and_the_index_links_every_page():
    index = ROOT / "docs" / "index.md"
    assert index in targets(ROOT / "README.md")
    assert set(ROOT.glob("docs/**/*.md")) - {index} <= targets(index)


def test_every_page_is_of_one_of_five_kinds():
    kinds = {page.parent.name for page in ROOT.glob("docs/**/*.md") if page.name != "index.md"}
    assert kinds == {"tutorials", "how-to", "reference", "explanation", "development"}


def test_the_readme_is_short_and_has_animations():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= LONGEST_README
    animations = [path for path in targets(ROOT / "README.md") if path.suffix == ".gif"]
    assert animations
    for animation in animations:
        with Image.open(animation) as frames:
            assert frames.n_frames > 20
