"""Plausible and hostile messages of any type, drawn from a seeded generator."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractString,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

from mujoco_ros.wire.qos import message_class

_FLOATS = (float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 5e-324, -0.0, 1e9, -1e9, 1e-12)
_FLOAT32_MAX = 3.4e38
_STRINGS = (
    "",
    "\0",
    "a\nb",
    "..",
    "../../x",
    "/",
    "//",
    "a/b",
    "%s%n",
    "nan",
    "é 🤖",
    "'; drop",
    "{}",
    "[",
    "(a+)+$",
    "x" * 300,
)
_LONG = 50_000
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_BITS |= {f"u{name}": bits for name, bits in _BITS.items()}


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Values of fields that a message needs to be taken seriously.

    Attributes:
        joints: Names of joints.
        names: Names of entities that exist at times.
        frames: Frames of TF.
        parameters: Names of parameters.
        uris: Resources.
        texts: Models as text.
    """

    joints: Sequence[str]
    names: Sequence[str]
    frames: Sequence[str]
    parameters: Sequence[str]
    uris: Sequence[str]
    texts: Sequence[str]


class MessageGenerator:
    """Draws messages; the same generator state gives the same messages."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Prepare to fill fields with words of the `vocabulary`."""
        words = vocabulary
        self._by_field = {
            "joint_names": words.joints,
            "name[]": words.joints,
            "name": [*words.names, *words.parameters],
            "entity": words.names,
            "entities": words.names,
            "entity_namespace": words.names,
            "frame_id": words.frames,
            "names": words.parameters,
            "uri": words.uris,
            "resource_string": words.texts,
            "activate_controllers": ("joint_trajectory_controller", "pick_place"),
            "deactivate_controllers": ("joint_trajectory_controller", "pick_place"),
        }
        self._joints = len(words.joints)

    def draw(self, kind: type, random: Random) -> Any:
        """Return a message of a class, in one of three moods from plausible to hostile."""
        return self._message(kind, random, random.choice((0.0, 0.02, 0.3)))

    def hostile_number(self, random: Random) -> float:
        """Return a number that few expect."""
        return random.choice(_FLOATS)

    def hostile_text(self, random: Random) -> str:
        """Return a text that few expect."""
        return random.choice((*_STRINGS, "x" * _LONG))

    def _message(self, kind: Any, random: Random, hostility: float) -> Any:
        made = kind()
        fields = kind.get_fields_and_field_types()
        for field, slot in zip(fields, kind.SLOT_TYPES, strict=True):
            if random.random() < 0.9:  # the others keep their defaults
                setattr(made, field, self._value(slot, field, random, hostility))
        return made

    def _value(self, slot: Any, field: str, random: Random, hostility: float) -> Any:
        if isinstance(slot, NamespacedType):
            kind = message_class("/".join(slot.namespaced_name()))
            return self._message(kind, random, hostility)
        if isinstance(slot, AbstractNestedType):
            if field == "name":
                field = "name[]"
            count = self._length(slot, field, random, hostility)
            words = self._by_field.get(field, ())
            if words and random.random() >= hostility and not isinstance(slot, Array):
                return list(words[:count])
            return [self._value(slot.value_type, field, random, hostility) for _ in range(count)]
        if isinstance(slot, AbstractString):
            return self._text(field, random, hostility)
        return self._number(slot, random, hostility)

    def _length(self, slot: Any, field: str, random: Random, hostility: float) -> int:
        if isinstance(slot, Array):
            return int(slot.size)
        if isinstance(slot.value_type, NamespacedType):
            count = random.choice((0, 1, 2, 3))
        elif random.random() < hostility:
            count = random.choice((0, 1, 7, 64))
        else:
            count = random.choice((0, self._joints, self._joints))
        return min(count, slot.maximum_size) if isinstance(slot, BoundedSequence) else count

    def _text(self, field: str, random: Random, hostility: float) -> str:
        if random.random() < hostility:
            return self.hostile_text(random)
        return random.choice(self._by_field.get(field, ("", "world")))

    def _number(self, slot: BasicType, random: Random, hostility: float) -> Any:
        name, hostile = slot.typename, random.random() < hostility
        if name == "boolean":
            return random.random() < 0.5
        if name in ("float", "double"):
            number = random.choice(_FLOATS) if hostile else random.uniform(-1.0, 1.0)
            if name == "float" and abs(number) > _FLOAT32_MAX and abs(number) != float("inf"):
                number = _FLOAT32_MAX
            return number
        if name == "octet":
            return bytes([random.randrange(256)])
        bits = _BITS.get(name, 8)
        low, high = (
            (0, 2**bits - 1) if name[0] != "i" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        return random.choice((low, high, high // 2)) if hostile else random.randrange(5)
