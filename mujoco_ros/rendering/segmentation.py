"""Segmentation: one number per body, and the meaning of the numbers."""

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
    """Meaning of a number in a segmentation image."""

    kind: str  # body, flex, skin or tendon
    name: str  # name in the model; empty if it has none
    frame: str = ""  # TF frame of a body; empty if it has none


class Segmentation:
    """Numbers the objects of a model: 0 is no object, then bodies, flexes, skins and tendons.

    A body's geoms share its number, 1 plus its index: instance segmentation. The largest is 65535.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Number the objects of a model."""
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
        # One row for each type of object; the last row and the last column are for no object.
        longest = max(len(values) for values in numbers.values())
        self._table = np.full((len(numbers) + 1, longest + 1), NOTHING, np.uint16)
        self._rows = np.full(int(_OBJ.mjNOBJECT) + 1, len(numbers), np.intp)
        for row, (kind, values) in enumerate(numbers.items()):
            self._table[row, : len(values)] = np.minimum(values, _LARGEST)
            self._rows[int(kind)] = row

    def numbers(self, objects: np.ndarray) -> np.ndarray:
        """Return the 16UC1 image of indices in the model with mjtObj, -1 for none.  # (h, w, 2)"""
        numbers: np.ndarray = self._table[self._rows[objects[..., 1]], objects[..., 0]]
        return numbers

    def legend(self, layout: ModelLayout) -> dict[int, Label]:
        """Return the meaning of each number."""
        frames = {body: frame for frame, body in body_frames(self._model, layout).items()}
        frames[0] = WORLD
        labels: dict[int, Label] = {}
        for kind, numbers in self._ranges.items():
            objects = getattr(_OBJ, f"mjOBJ_{kind.upper()}")  # MjModel has no accessor for flexes
            for index, number in enumerate(numbers):
                frame = frames.get(index, "") if kind == "body" else ""
                name = mujoco.mj_id2name(self._model, objects, index)
                labels[number] = Label(kind=kind, name=name or "", frame=frame)
        return {number: label for number, label in labels.items() if number < _LARGEST}
