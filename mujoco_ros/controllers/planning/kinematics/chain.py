"""The joints that move a tool, resolved to addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Some joints of a model, and the site that is led by them.

    Attributes:
        model: Robot and surroundings; nobody steps or changes it.
        names: The joints, in the order of all arrays.
        tool: The site's name.
        site: Its number.
        qpos: Addresses of the joints' positions.  # (k,)
        dof: Addresses of their velocities.  # (k,)
        lower: Lower position limits; -inf where there is none [rad or m].  # (k,)
        upper: Upper position limits.  # (k,)
        hinge: Which of them turn; the others slide.  # (k,) bool
    """

    model: Any
    names: tuple[str, ...]
    tool: str
    site: int
    qpos: np.ndarray
    dof: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    hinge: np.ndarray

    @classmethod
    def of(cls, model: mujoco.MjModel, *, joints: Sequence[str], tool: str) -> "Chain":
        """Resolve names as they are in `model`, prefixes included.

        Raises:
            ModelError: There is no such joint or site, or a joint neither turns nor slides.
        """
        ids = [_number(model, mujoco.mjtObj.mjOBJ_JOINT, "joint", name) for name in joints]
        for name, joint in zip(joints, ids, strict=True):
            if model.jnt_type[joint] not in (_HINGE, _SLIDE):
                raise UserInputError(f"joint '{name}' neither turns nor slides, so no chain has it")
        if not ids:
            raise UserInputError("a chain needs a joint")
        ranges = np.where(model.jnt_limited[ids, None], model.jnt_range[ids], (-np.inf, np.inf))
        return cls(
            model=model,
            names=tuple(joints),
            tool=tool,
            site=_number(model, mujoco.mjtObj.mjOBJ_SITE, "site", tool),
            qpos=model.jnt_qposadr[ids].astype(np.intp),
            dof=model.jnt_dofadr[ids].astype(np.intp),
            lower=ranges[:, 0],
            upper=ranges[:, 1],
            hinge=model.jnt_type[ids] == _HINGE,
        )

    @property
    def size(self) -> int:
        """Return how many joints there are."""
        return len(self.names)

    def check(self, q: np.ndarray) -> None:
        """Refuse what is no posture.

        Raises:
            ModelError: It is of another size, or not all numbers.
        """
        if np.shape(q) != (self.size,) or not np.isfinite(q).all():
            raise UserInputError(f"a posture is {self.size} finite numbers, got {q}")

    def beyond(self, q: np.ndarray) -> str:
        """Return which joint is beyond its limits, in words; empty if none is."""
        off = np.maximum(self.lower - q, q - self.upper)
        joint = int(np.argmax(off))
        if off[joint] <= 0.0:
            return ""
        low, high = self.lower[joint], self.upper[joint]
        return f"{self.names[joint]} at {q[joint]:.4f} is beyond its limits {low:.4f} to {high:.4f}"


def _number(model: mujoco.MjModel, kind: mujoco.mjtObj, what: str, name: str) -> int:
    number = mujoco.mj_name2id(model, kind, name)
    if number < 0:
        count = {"joint": model.njnt, "site": model.nsite}[what]
        known = [mujoco.mj_id2name(model, kind, i) for i in range(count)]
        raise unknown(what, name, [it for it in known if it])
    return int(number)
