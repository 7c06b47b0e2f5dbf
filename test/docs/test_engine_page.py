"""The page of the engine lists everything that the installed MuJoCo has."""

from pathlib import Path
from types import ModuleType

import pytest
from docs_scripts import load_script

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "engine.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("engine_page")


def missing(script: ModuleType, page: str) -> dict[str, list[str]]:
    """Return what the engine has and a page lacks, by the heading where it belongs."""
    found = script.features().items()
    lacking = {heading: sorted(names - script.listed(page, heading)) for heading, names in found}
    return {heading: names for heading, names in lacking.items() if names}


def test_everything_that_the_installed_engine_has_is_on_the_page(script: ModuleType) -> None:
    names = missing(script, PAGE.read_text(encoding="utf-8"))
    assert not names, (
        f"say in docs/engine_page.py where these are, then run docs/generate.py: {names}"
    )


@pytest.mark.parametrize(
    ("row", "heading", "names"),
    [
        ("| `qfrc_fluid` |", "Arrays", ["qfrc_fluid"]),
        ("| `flag.island` |", "Options", ["flag.island"]),
        ("| `tactile` |", "Sensors", ["tactile"]),
        ("| `dcmotor` |", "Actuators", ["dcmotor"]),
        ("| `so3` |", "Transmissions", ["so3"]),
        ("| `filterexact` |", "Dynamics, gains and biases", ["filterexact"]),
        ("| `mujoco.sdf.nut` |", "Plugins", ["mujoco.sdf.nut"]),
        ("| `mjcb_sensor` |", "Callbacks", ["mjcb_sensor"]),
        ("| `size` |", "Elements and attributes", ["size memory", "size nconmax"]),
    ],
)
def test_what_the_page_lacks_is_named(
    script: ModuleType, row: str, heading: str, names: list[str]
) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    begin = lines.index(f"## {heading}\n")
    index = next(i for i, line in enumerate(lines) if i > begin and line.startswith(row))
    del lines[index]
    found = missing(script, "".join(lines))
    assert found.keys() == {heading}
    assert found[heading][: len(names)] == names
