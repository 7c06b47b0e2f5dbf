"""The pages about policies list all settings, and their tables can be run."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
import yaml

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.library.policy.config import (
    ActionConfig,
    InputConfig,
    PolicyConfig,
    TermConfig,
)
from mujoco_ros.controllers.library.policy.policy_states import Policy
from mujoco_ros.controllers.ros.state_parameters import config_specs
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.strict import from_dict
from mujoco_ros.sim.simulation import Simulation

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs/reference/policy.md").read_text(encoding="utf-8")
HOW_TO = (ROOT / "docs/how-to/run_policies.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(it) for it in re.findall(r"```yaml\n(.*?)```", HOW_TO, re.S)]


def tables(heading: str) -> list[list[list[str]]]:
    """Return the cells of the rows of each table in a section, without headings."""
    section = re.split(r"^## ", REFERENCE, flags=re.M)
    (text,) = (it for it in section if it.startswith(heading))
    found = re.findall(r"(?:^\|.*\n)+", text, re.M)
    return [[row.strip("|\n").split(" | ") for row in it.splitlines()[2:]] for it in found]


def names(table: list[list[str]]) -> list[str]:
    return [name for row in table for name in re.findall(r"`(\w+)`", row[0])]


@pytest.mark.parametrize(
    ("heading", "number", "config"),
    [
        ("The state", 0, PolicyConfig),
        ("Inputs", 0, InputConfig),
        ("Inputs", 2, TermConfig),
        ("Actions", 0, ActionConfig),
    ],
)
def test_every_setting_is_in_its_table(heading: str, number: int, config: Any) -> None:
    table = tables(heading)[number]
    assert sorted(names(table)) == sorted(field.name for field in fields(config))
    hints = get_type_hints(config)
    for row in table:
        for name in names([row]):
            if get_origin(hints[name]) is Literal and name != "term":
                assert set(get_args(hints[name])) <= set(re.findall(r"`(\w+)`", " ".join(row)))


def test_every_term_and_outcome_is_listed() -> None:
    assert names(tables("Inputs")[1]) == list(get_args(get_type_hints(TermConfig)["term"]))
    assert names(tables("The state")[1]) == list(Policy.outcomes)


def test_the_parameters_are_the_last_rows() -> None:
    config = PolicyConfig(file="a.onnx", inputs={"obs": from_dict(InputConfig, TERMS, "")})
    parameters = [name for name, _ in config_specs("WALK", config)]
    assert names(tables("The state")[0][-3:]) == parameters


TERMS = {"terms": [{"term": "command"}]}


def test_the_table_of_the_page_is_accepted(tmp_path: Path) -> None:
    (table,) = (it for it in BLOCKS if "states" in it)
    path = tmp_path / "run_policy.yaml"
    path.write_text(yaml.safe_dump(table))
    controller = load(str(path))
    assert controller.machine.configs["WALK"].file == str(tmp_path / "policy.onnx")


def test_the_table_of_the_page_fits_the_policy_and_the_robot_that_it_names() -> None:
    folder = ROOT / "mujoco_ros/controllers/library/trot_policy"
    assert f"cp {folder.relative_to(ROOT)}/trot_policy.onnx policy.onnx" in HOW_TO
    shipped = yaml.safe_load((folder / "trot_policy.yaml").read_text())
    (table,) = (it for it in BLOCKS if "states" in it)
    walk, own = table["states"]["WALK"], dict(shipped["states"]["WALK"])
    joints = Simulation(load_scene("quadruped")).joints.names
    assert walk.pop("joints") == [name.removeprefix("quadruped/") for name in joints]
    assert {**walk, "file": own["file"]} == own
    assert table["rate"] == shipped["rate"]


def test_the_settings_of_the_page_are_accepted() -> None:
    for block in BLOCKS:
        if "states" not in block:
            from_dict(PolicyConfig, {"file": "policy.onnx", **block}, "page")


def test_the_table_of_the_public_policy_is_accepted() -> None:
    controller = load(str(ROOT / "config/controllers/go1_joystick.yaml"))
    assert controller.period * controller.machine.configs["WALK"].decimation == 0.02
