"""Settings of states as parameters: types, ranges and descriptions."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from sample_states import Ramp, controller, in_turn

from mujoco_ros.controllers.catalogue import load, names
from mujoco_ros.controllers.ros.controller_settings import controller_name
from mujoco_ros.controllers.ros.state_parameters import config_specs


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """One setting of each type.

    Attributes:
        speed: How fast [m/s].
        goal: Where to, and
            how [m].
    """

    speed: float = field(default=1.0, metadata={"range": (0.0, 2.0)})
    goal: tuple[float, float] = (0.1, 0.2)
    tries: int = 3
    side: Side = Side.LEFT
    pose: Literal["depth", "truth"] = "truth"
    quick: bool = False
    names: tuple[str, ...] = ()
    limit: float | None = None
    file: str = field(default="", metadata={"is_fixed": True})


def test_each_supported_setting_is_a_parameter():
    specs = dict(config_specs("OUTER/INNER", Config()))
    assert {spec.name for spec in specs.values()} == {
        f"OUTER.INNER.{name}" for name in ("speed", "goal", "tries", "side", "pose", "quick")
    }
    assert [specs[name].kind for name in ("speed", "goal", "tries", "side", "quick")] == [
        *("float", "double array", "integer", "string", "bool")
    ]
    assert specs["speed"].description == "How fast [m/s]"
    assert specs["goal"].description == "Where to, and how [m]"
    assert specs["tries"].description == "Setting of the state OUTER/INNER"
    assert specs["side"].choices == ("left", "right")
    assert specs["pose"].choices == ("depth", "truth")
    assert specs["speed"].problem(2.5)
    assert not specs["speed"].problem(2.0)


def test_every_setting_of_the_shipped_controllers_is_described():
    for name in names():
        machine = load(name).machine
        for state in machine.instances:
            config = machine.configs[state]
            for field_name, spec in () if config is None else config_specs(state, config):
                assert not spec.description.startswith("Setting of"), (
                    f"{name}: {state}.{field_name}"
                )


def test_a_description_is_complete():
    machine = controller(in_turn("{class: Ramp}")).machine
    specs = dict(config_specs("S0", machine.configs["S0"]))
    assert type(machine.instances["S0"]) is Ramp
    assert (
        specs["speed"].description == "Of the first joint, which turns about its own axis [rad/s]"
    )


def test_the_node_of_a_controller_is_named_after_its_file():
    assert controller_name("pick_place") == "pick_place"
    assert controller_name("/some/where/my_own.yaml") == "my_own"
