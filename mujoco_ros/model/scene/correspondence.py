"""Correspondence of the elements of two assemblies."""

from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.model.robot.scope import JOINT_WIDTHS
from mujoco_ros.model.scene.assembly import Assembly

Pairs = tuple[np.ndarray, np.ndarray]
"""Indices in the older and in the newer model, of equal length."""

_NAMED = {
    "body": "name_bodyadr",
    "joint": "name_jntadr",
    "geom": "name_geomadr",
    "site": "name_siteadr",
    "camera": "name_camadr",
    "light": "name_lightadr",
    "flex": "name_flexadr",
    "material": "name_matadr",
    "pair": "name_pairadr",
    "equality": "name_eqadr",
    "tendon": "name_tendonadr",
    "actuator": "name_actuatoradr",
    "sensor": "name_sensoradr",
    "plugin": "name_pluginadr",
}
"""Addresses of names in MjModel by kind of element."""
_ON_BODIES = {
    "geom": "geom_bodyid",
    "site": "site_bodyid",
    "camera": "cam_bodyid",
    "light": "light_bodyid",
}

_Key = tuple[str, int]


class Correspondence:
    """Pairs of indices of the elements that two assemblies share.

    Elements correspond if they belong to the same `ScenePart` object, or world, and have the same
    name; elements without a name, if they have the same index on the same body. A part that was
    removed and added again does not correspond to itself.
    """

    def __init__(self, old: Assembly, new: Assembly) -> None:
        self._old, self._new = old.model, new.model
        staying = _shared(old, new)
        world = 0  # geoms of the world itself, the first ones on the world's body
        if new.base is old.base and old.base is not None:
            world = len(old.base.worldbody.geoms)
        # Indices in both models by kind of index: the kinds of elements, and ``q``, ``v``, ``act``,
        # ``ctrl``, ``output``, ``mocap``, ``plugin_state``, ``history`` and ``plastic`` for the
        # arrays of MjData
        self.pairs: dict[str, Pairs] = {
            kind: _matches(_keys(old, kind, staying, world), _keys(new, kind, staying, world))
            for kind in _NAMED
        }
        self.pairs |= {
            "q": self._joint_addresses("jnt_qposadr", 0),
            "v": self._joint_addresses("jnt_dofadr", 1),
            "act": self._addresses("actuator", "actuator_actadr", "actuator_actnum"),
            "ctrl": self._addresses("actuator", "actuator_ctrladr", "actuator_ctrlnum"),
            "output": self._addresses("actuator", "actuator_outadr", "actuator_outnum"),
            "plugin_state": self._addresses("plugin", "plugin_stateadr", "plugin_statenum"),
            "mocap": self._mocap(),
            "history": self._buffers(
                "nhistory", {"actuator": "actuator_historyadr", "sensor": "sensor_historyadr"}
            ),
            "plastic": self._buffers(
                "nplastic",
                {
                    "joint": "jnt_plasticadr",
                    "tendon": "tendon_plasticadr",
                    "flex": "flex_plasticadr",
                },
            ),
        }

    def _addresses(self, kind: str, start: str, count: str) -> Pairs:
        old, new = self.pairs[kind]
        return _expanded(
            (getattr(self._old, start)[old], getattr(self._old, count)[old]),
            (getattr(self._new, start)[new], getattr(self._new, count)[new]),
        )

    def _joint_addresses(self, start: str, column: int) -> Pairs:
        old, new = self.pairs["joint"]
        return _expanded(
            (getattr(self._old, start)[old], JOINT_WIDTHS[self._old.jnt_type[old], column]),
            (getattr(self._new, start)[new], JOINT_WIDTHS[self._new.jnt_type[new], column]),
        )

    def _mocap(self) -> Pairs:
        old, new = self.pairs["body"]
        before, after = self._old.body_mocapid[old], self._new.body_mocapid[new]
        both = (before >= 0) & (after >= 0)
        return before[both].astype(np.intp), after[both].astype(np.intp)

    def _buffers(self, total: str, starts: dict[str, str]) -> Pairs:
        """Pair ranges that end where the next one begins."""
        ends = []
        for model in (self._old, self._new):
            begins = np.concatenate([getattr(model, start) for start in starts.values()])
            ends.append(np.append(np.unique(begins[begins >= 0]), getattr(model, total)))
        found = []
        for kind, start in starts.items():
            sides = []
            for model, which, end in zip(
                (self._old, self._new), self.pairs[kind], ends, strict=True
            ):
                begin = getattr(model, start)[which]
                after = end[np.minimum(np.searchsorted(end, begin, side="right"), len(end) - 1)]
                sides.append((begin, np.where(begin < 0, 0, after - begin)))
            found.append(_expanded(*sides))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def _shared(old: Assembly, new: Assembly) -> frozenset[str]:
    """Return the prefixes of the parts in both; an empty one stands for the world."""
    kept = {id(part) for part in new.parts}
    prefixes = {part.prefix for part in old.parts if part.prefix and id(part) in kept}
    return frozenset(prefixes | ({""} if old.base is not None and old.base is new.base else set()))


def _keys(
    assembly: Assembly, kind: str, staying: frozenset[str], world_geoms: int
) -> Iterator[tuple[int, _Key]]:
    """Yield index and key of each element that may be in both models."""
    model = assembly.model
    names = _names(model, kind)
    prefixes = {part.prefix for part in assembly.parts if part.prefix}
    bodies = names if kind == "body" else _names(model, "body")
    on_body = getattr(model, _ON_BODIES[kind]) if kind in _ON_BODIES else None
    place, last, body = 0, -1, 0
    for index, name in enumerate(names):
        if on_body is not None:
            body = int(on_body[index])
            place, last = (place + 1 if body == last else 0), body
        owner, key = name, (name, -1)
        if not name:
            if on_body is None or (body == 0 and (kind != "geom" or place >= world_geoms)):
                continue
            owner, key = bodies[body], (bodies[body], place)
        head, slash, _ = owner.partition("/")
        prefix = head + slash
        if (prefix if slash and prefix in prefixes else "") in staying:
            yield index, key


def _matches(old: Iterator[tuple[int, _Key]], new: Iterator[tuple[int, _Key]]) -> Pairs:
    found = {key: index for index, key in old}
    both = [(found[key], index) for index, key in new if key in found]
    pairs = np.array(both, dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def _expanded(old: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray]) -> Pairs:
    """Pair ranges given by start and length; ranges of different length are left out."""
    (before, lengths), (after, others) = old, new
    same = (lengths == others) & (before >= 0) & (after >= 0) & (lengths > 0)
    before, after, lengths = before[same], after[same], lengths[same]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return (
        (np.repeat(before, lengths) + within).astype(np.intp),
        (np.repeat(after, lengths) + within).astype(np.intp),
    )


def _names(model: mujoco.MjModel, kind: str) -> list[str]:
    """Return the names of all elements of a kind, much faster than `MjModel.body`."""
    text: bytes = model.names
    addresses = getattr(model, _NAMED[kind])
    return [text[a : text.index(b"\0", a)].decode() for a in addresses.tolist()]
