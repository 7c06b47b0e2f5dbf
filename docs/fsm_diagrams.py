"""The diagrams of state machines: the shipped controllers, and the example of the page."""

import re
from functools import partial
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.catalogue import load_table, names
from mujoco_ros.controllers.fsm.state import STATES
from mujoco_ros.controllers.fsm.state_diagram import draw
from mujoco_ros.controllers.fsm.table import Table
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.model.strict import parse_yaml

PAGE = Path(__file__).resolve().parent / "how-to" / "write_controllers.md"


def example() -> Table:
    """Return the page's table with the page's class of states."""
    text = PAGE.read_text(encoding="utf-8")
    table, code = (
        next(re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S)).group(1)
        for language in ("yaml", "python")
    )
    found: dict[str, Any] = {"__name__": "example"}
    exec(code, found)
    classes = {cls.__name__: cls for cls in STATES} | {"Reach": found["Reach"]}
    return table_from_dict(parse_yaml(table, PAGE.name), classes, name="wave", where=PAGE.name)


def _shipped(name: str) -> str:
    return draw(load_table(name))


DIAGRAMS = {f"fsm_{name}": partial(_shipped, name) for name in names()}
DIAGRAMS["fsm_example"] = lambda: draw(example())
