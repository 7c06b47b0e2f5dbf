"""The changelog has groups of short lines, which the tools of ROS can read."""

import re
from pathlib import Path

import pytest
from catkin_pkg.changelog import Changelog, populate_changelog_from_rst

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CHANGELOG.rst").read_text(encoding="utf-8")
LONGEST_LINE = 150  # characters of a bullet


@pytest.fixture(scope="module")
def groups() -> list[list[str]]:
    """The top bullets as catkin_pkg reads them: the lines of each, that of the group first.

    catkin_pkg omits the section that is not released, so it gets a version here.
    """
    released = re.sub(
        r"^Forthcoming\n-+$", "9.9.9 (2100-01-01)\n------------------", TEXT, flags=re.M
    )
    changelog = Changelog("mujoco_ros")
    populate_changelog_from_rst(changelog, released)
    (content,) = changelog.get_content_of_version("9.9.9")
    return [str(bullet).splitlines() for bullet in content.bullets]


def test_every_line_is_in_a_group(groups):
    assert len(groups) > 1
    assert not [title for title, *lines in groups if not lines]


def test_every_bullet_is_a_short_line(groups):
    bullets = [line.strip() for _, *lines in groups for line in lines if line.strip()]
    assert not [line for line in bullets if not line.startswith("* ")], "bullets of several lines"
    assert not [line for line in bullets if len(line.removeprefix("* ")) > LONGEST_LINE]


def test_every_named_page_exists():
    pages = set(re.findall(r"\bdocs/[\w/-]+\.md", TEXT))
    assert pages
    assert not [page for page in pages if not (ROOT / page).exists()]
