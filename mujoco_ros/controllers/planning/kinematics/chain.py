"""A kinematic chain: joints and a tool, resolved to addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Joints of a model and the site that they move.

    Attributes:
        model: Robot and scene; constant.
        names: Names of the joints, in the order of all arrays.
        tool: Name of the site, whose id is `site`.
        qpos: Addresses of the joints in qpos.  # (k,)
        dof: Addresses of the joints in qvel.  # (k,)
        lower: Lower position limits, or -inf [rad or m].  # (k,)
        upper: Upper position limits, or inf.  # (k,)
        hinge: Which joints are hinges; the others are slides.  # (k,) bool
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
        """Resolve names of `model`, with their prefixes.

        Raises:
            UserInputError: A joint or site does not exist, or a joint is neither hinge nor slide.
        """
        ids = [joint_id(model, name) for name in joints]
        for name, joint in zip(joints, ids, strict=True):
            if model.jnt_type[joint] not in (_HINGE, _SLIDE):
                raise UserInputError(f"joint '{name}' is neither a hinge nor a slide")
        if not ids:
            raise UserInputError("a chain needs at least one joint")
        ranges = np.where(model.jnt_limited[ids, None], model.jnt_range[ids], (-np.inf, np.inf))
        return cls(
            model=model,
            names=tuple(joints),
            tool=tool,
            site=_id(model, mujoco.mjtObj.mjOBJ_SITE, "site", tool),
            qpos=model.jnt_qposadr[ids].astype(np.intp),
            dof=model.jnt_dofadr[ids].astype(np.intp),
            lower=ranges[:, 0],
            upper=ranges[:, 1],
            hinge=model.jnt_type[ids] == _HINGE,
        )

    @property
    def size(self) -> int:
        """Return the number of joints."""
        return len(self.names)

    def check(self, q: np.ndarray) -> None:
        """Check the shape and the values of a configuration.

        Raises:
            UserInputError: The configuration has another size, NaN or infinity.
        """
        if np.shape(q) != (self.size,) or not np.isfinite(q).all():
            raise UserInputError(f"a configuration is {self.size} finite numbers, got {q}")

    def limit_violation(self, q: np.ndarray) -> str:
        """Return a message about the joint that exceeds its limits most; empty within limits."""
        excess = np.maximum(self.lower - q, q - self.upper)
        joint = int(np.argmax(excess))
        if excess[joint] <= 0.0:
            return ""
        low, high = self.lower[joint], self.upper[joint]
        return f"{self.names[joint]} at {q[joint]:.4f} is beyond its limits {low:.4f} to {high:.4f}"


def joint_id(model: mujoco.MjModel, name: str) -> int:
    """Return the id of a joint.

    Raises:
        UserInputError: No joint has that name.
    """
    return _id(model, mujoco.mjtObj.mjOBJ_JOINT, "joint", name)


def _id(model: mujoco.MjModel, kind: mujoco.mjtObj, label: str, name: str) -> int:
    number = mujoco.mj_name2id(model, kind, name)
    if number < 0:
        count = {"joint": model.njnt, "site": model.nsite}[label]
        known = [mujoco.mj_id2name(model, kind, i) for i in range(count)]
        raise unknown(label, name, [it for it in known if it])
    return int(number)
