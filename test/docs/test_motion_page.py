"""The page on motion: its example is run, and its names are those of the code."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mujoco_ros.motion import errors
from mujoco_ros.motion.kinematics import Kinematics
from mujoco_ros.motion.surroundings import Surroundings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "motion.md").read_text(encoding="utf-8")


def test_the_example_moves_above_the_box():
    there: dict[str, Any] = {}
    exec(re.search(r"^```python\n(.*?)^```", PAGE, re.M | re.S).group(1), there)
    reached = Kinematics(there["chain"]).pose(there["plan"].trajectory.goal)
    assert reached.position == pytest.approx([0.35, 0.2, 0.485], abs=1e-5)
    assert abs(there["dq"]).max() > 0.1


def test_the_page_names_every_error_and_every_field_of_the_surroundings():
    kinds = {name for name in vars(errors) if name.endswith("Error")}
    assert set(re.findall(r"^\| `(\w+Error)` \|", PAGE, re.M)) == kinds - {"MotionError"}
    rows = PAGE.split("| Field of `Surroundings` |")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", rows, re.M))
    assert named == {field.name for field in fields(Surroundings)}
