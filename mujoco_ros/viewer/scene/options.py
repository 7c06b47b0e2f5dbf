"""What a page shows of a scene: MuJoCo's visual flags, labels, frames and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco

_GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")
_FLAGS = tuple(name for name, _default, _key in mujoco.mjVISSTRING)
_SHOWN = (True, True, True, False, False, False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewOptions:
    """The contents of an `MjvOption`."""

    flags: tuple[bool, ...] = tuple(default == "1" for _, default, _ in mujoco.mjVISSTRING)
    label: int = 0  # index in ``mujoco.mjLABELSTRING``
    frame: int = 0  # index in ``mujoco.mjFRAMESTRING``
    # Whether each group of each kind is shown
    groups: tuple[tuple[bool, ...], ...] = (_SHOWN,) * len(_GROUPS)

    def changed(self, message: Mapping[str, Any]) -> "ViewOptions":
        """Return the options after a message of a page; raise `ValueError` if it is not valid."""
        flags = list(self.flags)
        for name, value in dict(message.get("flags", {})).items():
            flags[_index(name, _FLAGS, "visual flag")] = bool(value)
        groups = list(self.groups)
        for name, shown in dict(message.get("groups", {})).items():
            if not isinstance(shown, list) or len(shown) != len(_SHOWN):
                raise ValueError(f"groups of '{name}' are not a list of {len(_SHOWN)} switches")
            groups[_index(name, _GROUPS, "kind of group")] = tuple(map(bool, shown))
        label, frame = self.label, self.frame
        if "label" in message:
            label = _index(message["label"], mujoco.mjLABELSTRING, "label")
        if "frame" in message:
            frame = _index(message["frame"], mujoco.mjFRAMESTRING, "frame")
        return replace(self, flags=tuple(flags), groups=tuple(groups), label=label, frame=frame)

    def to_json(self) -> dict[str, Any]:
        """Return a message that sets all options."""
        return {
            "flags": dict(zip(_FLAGS, self.flags, strict=True)),
            "groups": {name: list(shown) for name, shown in zip(_GROUPS, self.groups, strict=True)},
            "label": mujoco.mjLABELSTRING[self.label],
            "frame": mujoco.mjFRAMESTRING[self.frame],
        }

    def to_mujoco(self) -> mujoco.MjvOption:
        """Return the options for ``mjv_updateScene``."""
        option = mujoco.MjvOption()
        option.flags[:] = self.flags
        option.label, option.frame = self.label, self.frame
        for name, shown in zip(_GROUPS, self.groups, strict=True):
            getattr(option, f"{name}group")[:] = shown
        return option


def choices() -> dict[str, Any]:
    """Return what can be chosen, with the keys of MuJoCo's program ``simulate``."""
    return {
        "flags": [[name, key] for name, _default, key in mujoco.mjVISSTRING],
        "render": [[name, key, default == "1"] for name, default, key in mujoco.mjRNDSTRING],
        "labels": list(mujoco.mjLABELSTRING),
        "frames": list(mujoco.mjFRAMESTRING),
        "groups": list(_GROUPS),
    }


def _index(name: object, names: Sequence[str], kind: str) -> int:
    if name not in names:
        raise ValueError(f"'{name}' is no {kind}; there are: {', '.join(names)}")
    return names.index(str(name))
