"""Rules of accessibility, checked by axe-core in each panel, light and dark."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mujoco_ros.viewer.page.panels import PANELS

FILE = Path(__file__).parents[3] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
SETTLED_MS = 400


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core's script."""
    file = Path(os.environ.get("AXE_CORE", FILE))
    if not file.is_file():
        pytest.skip(f"no axe-core at {file}: npm install --prefix build/axe axe-core")
    return file.read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_panel_breaks_a_serious_rule(axe, page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.evaluate(axe)
    found: dict[str, Any] = {}
    for panel in PANELS:
        tab = page.get_by_role("tab", name=panel.title, exact=True)
        if not tab.is_visible():
            continue
        tab.click()
        expect(page.get_by_role("tabpanel", name=panel.title, exact=True)).to_be_visible()
        page.wait_for_timeout(SETTLED_MS)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert result["passes"], "axe-core has checked nothing"
        for each in result["violations"]:
            if each["impact"] in SERIOUS:
                nodes = [node["html"][:160] for node in each["nodes"][:3]]
                found.setdefault(each["id"], {"help": each["help"], "nodes": nodes})
    assert found == {}
