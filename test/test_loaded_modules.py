"""A client loads what it needs, and no simulator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_LOADED = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps({n: m.__file__ for n, m in sys.modules.items() if n.startswith("mujoco_ros")}))
"""
SIMULATOR = {"bridge.component", "sim.plant", "sim.simulation"}


def loaded(entry: str) -> dict[str, int]:
    """Return the lines of each module of the package that a new process imports with `entry`."""
    command = [sys.executable, "-c", _LOADED, f"mujoco_ros.{entry}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files: dict[str, str] = json.loads(output)
    return {
        name.partition(".")[2]: len(Path(file).read_text(encoding="utf-8").splitlines())
        for name, file in files.items()
        if file.endswith(".py")  # not compiled
    }


@pytest.mark.parametrize(
    ("entry", "limit"),
    [
        ("viewer.ros.node", 9_000),
        ("controllers.ros.node.node", 26_000),
        ("cameras.ros.node", 19_000),
        ("recording.ros.recorder", 3_000),
        ("cli.recording_session", 8_500),
    ],
)
def test_a_client_loads_few_lines(entry: str, limit: int) -> None:
    lines = loaded(entry)
    by_folder: dict[str, int] = {}
    for name, count in lines.items():
        folder = name.partition(".")[0]
        by_folder[folder] = by_folder.get(folder, 0) + count
    assert sum(lines.values()) <= limit, by_folder
    assert entry in lines
    assert not SIMULATOR & lines.keys()


@pytest.mark.parametrize(
    "entry", ["viewer.ros.node", "recording.ros.recorder", "cli.recording_session"]
)
def test_a_client_loads_nothing_of_the_bridge_and_of_the_simulation(entry: str) -> None:
    assert [name for name in loaded(entry) if name.partition(".")[0] in ("bridge", "sim")] == []


def test_the_simulator_loads_what_clients_must_not() -> None:
    assert loaded("bridge.node").keys() >= SIMULATOR


def test_the_page_loads_no_scipy_before_it_shows_the_margin_of_a_grasp() -> None:
    code = "import sys, mujoco_ros.viewer.page.server; print('scipy' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert output.split() == ["False"]
