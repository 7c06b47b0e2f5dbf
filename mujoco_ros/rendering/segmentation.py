"""Which thing each pixel shows: one number per body, and what the numbers mean."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.body_frames import body_frames
from mujoco_ros.model.robot.layout import ModelLayout

NOTHING = 0
WORLD = "world"
_KINDS = ("body", "flex", "skin", "tendon")
_LARGEST = 65535
_OBJ = mujoco.mjtObj


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """What a number in a picture means.

    Attributes:
        kind: body, flex, skin or tendon.
        name: Its name in the model; empty if it has none.
        frame: The body's frame in TF; empty if it has none.
    """

    kind: str
    name: str
    frame: str = ""


class Segmentation:
    """Numbers what is in a model: 0 is nothing, then its bodies, flexes, skins and tendons.

    The geoms of a body share its number, 1 plus its own: 1 is the world. So there is one number per
    link and per object, which is what learners call an instance. What does not fit into 16 bits is
    65535.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Number what is in a model."""
        self._model = model
        counts = (model.nbody, model.nflex, model.nskin, model.ntendon)
        firsts = np.cumsum((NOTHING + 1, *counts))
        self._ranges = {
            kind: range(first, first + count)
            for kind, first, count in zip(_KINDS, firsts.tolist(), counts, strict=False)
        }
        numbers = {
            _OBJ.mjOBJ_GEOM: self._ranges["body"].start + model.geom_bodyid,
            _OBJ.mjOBJ_FLEX: np.array(self._ranges["flex"]),
            _OBJ.mjOBJ_SKIN: np.array(self._ranges["skin"]),
            _OBJ.mjOBJ_TENDON: np.array(self._ranges["tendon"]),
        }
        # One row for each kind of object; the last row, and each row's last number, is nothing's.
        longest = max(len(values) for values in numbers.values())
        self._table = np.full((len(numbers) + 1, longest + 1), NOTHING, np.uint16)
        self._rows = np.full(int(_OBJ.mjNOBJECT) + 1, len(numbers), np.intp)
        for row, (kind, values) in enumerate(numbers.items()):
            self._table[row, : len(values)] = np.minimum(values, _LARGEST)
            self._rows[int(kind)] = row

    def ids(self, objects: np.ndarray, out: np.ndarray) -> None:
        """Write the numbers of what is seen.

        Args:
            objects: Number in the model and mjtObj, -1 where nothing is.  # (h, w, 2) int32
            out: 16UC1.  # (h, w) uint16
        """
        out[...] = self._table[self._rows[objects[..., 1]], objects[..., 0]]

    def legend(self, layout: ModelLayout) -> dict[int, Label]:
        """Return what each number means."""
        frames = {body: frame for frame, body in body_frames(self._model, layout).items()}
        frames[0] = WORLD
        found: dict[int, Label] = {}
        for kind, numbers in self._ranges.items():
            objects = getattr(_OBJ, f"mjOBJ_{kind.upper()}")  # MjModel has no accessor for flexes
            for index, number in enumerate(numbers):
                frame = frames.get(index, "") if kind == "body" else ""
                name = mujoco.mj_id2name(self._model, objects, index)
                found[number] = Label(kind=kind, name=name or "", frame=frame)
        return {number: label for number, label in found.items() if number < _LARGEST}
