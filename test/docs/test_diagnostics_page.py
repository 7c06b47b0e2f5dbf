"""The page on /diagnostics has every row and every limit."""

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.bridge.diagnostics.diagnostics import DIAGNOSTIC_ROWS
from mujoco_ros.bridge.diagnostics.report import LIMITS
from mujoco_ros.bridge.node import COMPONENTS
from mujoco_ros.controllers.ros.hosted_controller import HostedController
from mujoco_ros.extensions.ros.extension_host import ROW
from mujoco_ros.ros2_control.controller_file import MANAGER
from mujoco_ros.wire.names import REALISM as REALISM_ROW

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PAGE = (ROOT / "docs" / "reference" / "diagnostics.md").read_text(encoding="utf-8")
OF_COMPONENTS = {each.name for each in (*COMPONENTS, HostedController) if each.name}
ALL_ROWS = {*DIAGNOSTIC_ROWS, "world", *OF_COMPONENTS, ROW, REALISM_ROW, MANAGER}
OTHER_NAMES = {"drawing", "name"}
"""A row of the node of cameras, and the attribute of a component that names its row."""


def _shown(limit: float) -> str:
    return "never" if limit < 0 else f"{limit:g}"


def _first_cells(heading: str) -> set[str]:
    table = PAGE[PAGE.index(heading) :].partition("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.M))


def test_every_row_is_explained() -> None:
    assert OF_COMPONENTS
    assert _first_cells("| Row |") == ALL_ROWS


def test_every_row_that_a_page_names_exists() -> None:
    for page in PAGES:
        named = set(re.findall(r"\brow\s+`([^`]+)`", page.read_text(encoding="utf-8")))
        assert named <= ALL_ROWS | OTHER_NAMES, page


def test_every_limit_is_listed_with_its_defaults() -> None:
    for limit in LIMITS:
        cells = (f"`{limit.name}`", limit.description, _shown(limit.warn), _shown(limit.error))
        assert f"| {' | '.join(cells)} |" in PAGE


def test_no_limit_is_listed_that_does_not_exist() -> None:
    assert _first_cells("| Metric |") == {limit.name for limit in LIMITS}
