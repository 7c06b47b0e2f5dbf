"""The hardware components that the ``<ros2_control>`` elements of a URDF declare."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

from mujoco_ros.model.errors import UserInputError

_BOOLEANS = {"true": 1.0, "false": 0.0}
_ELEMENTS = ("joint", "sensor", "gpio")


@dataclass(frozen=True, kw_only=True, slots=True)
class HardwareBlock:
    """A hardware component, with its interfaces as ``joint/position``."""

    name: str
    type: str = "system"  # or actuator, or sensor
    plugin: str = ""
    commands: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredHardware:
    """The hardware components of a robot, and the initial values of their interfaces."""

    blocks: tuple[HardwareBlock, ...] = ()
    initial: dict[str, float]
    # By sensor, the name in the model that mujoco_ros2_control reads: its sensors begin with it
    in_model: dict[str, str] = field(default_factory=dict)


def read_blocks(urdf: str) -> DeclaredHardware:
    """Return the hardware components of a valid URDF.

    Raises:
        UserInputError: An initial value of a sensor or a GPIO is no number.
    """
    initial: dict[str, float] = {}
    blocks, in_model = [], {}
    for element in ET.fromstring(urdf).iter("ros2_control"):
        plugin = element.find("hardware/plugin")
        blocks.append(
            HardwareBlock(
                name=element.get("name", ""),
                type=element.get("type", "system"),
                plugin="" if plugin is None else (plugin.text or "").strip(),
                commands=tuple(_interfaces(element, "command_interface", initial)),
                states=tuple(_interfaces(element, "state_interface", initial)),
            )
        )
        for sensor in element.iterfind("sensor"):
            for place in ("body", "site"):
                if found := sensor.findtext(f"param[@name='{place}']", "").strip():
                    in_model[sensor.get("name", "")] = found
            if sensor.find("param[@name='mujoco_type']") is not None:
                name = sensor.get("name", "")
                named = sensor.findtext("param[@name='mujoco_sensor_name']", name)
                in_model[name] = named.strip()
    return DeclaredHardware(blocks=tuple(blocks), initial=initial, in_model=in_model)


def _interfaces(block: ET.Element, tag: str, initial: dict[str, float]) -> Iterator[str]:
    for kind in _ELEMENTS:
        for element in block.iterfind(kind):
            for interface in element.iterfind(tag):
                name = f"{element.get('name', '')}/{interface.get('name', '')}"
                text = interface.findtext("param[@name='initial_value']")
                if text is not None:
                    # A joint starts where the model says, whatever this is.
                    with suppress(UserInputError) if kind == "joint" else nullcontext():
                        initial[name] = _number(name, text.strip())
                yield name


def _number(interface: str, text: str) -> float:
    try:
        return float(_BOOLEANS.get(text.lower(), text))
    except ValueError as error:
        raise UserInputError(
            f"<ros2_control>: initial_value of '{interface}' is '{text}'; it must be a number, "
            "true or false"
        ) from error
