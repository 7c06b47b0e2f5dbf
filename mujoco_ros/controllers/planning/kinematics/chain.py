"""A kinematic chain: joints and a tool, resolved to addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.pose import Pose

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Joints of a model and the tool that they move, a site or a body."""

    model: Any  # robot and scene; constant
    names: tuple[str, ...]  # names of the joints, in the order of all arrays
    tool: str  # name of the site or body
    site: int  # id of the site; -1 for a body
    body: int  # id of the body, or of the one that carries the site
    qpos: np.ndarray  # addresses of the joints in qpos (k,)
    dof: np.ndarray  # addresses of the joints in qvel (k,)
    lower: np.ndarray  # lower position limits, or -inf [rad or m] (k,)
    upper: np.ndarray  # upper position limits, or inf (k,)
    hinge: np.ndarray  # which joints are hinges; the others are slides (k,) bool

    @classmethod
    def of(cls, model: mujoco.MjModel, *, joints: Sequence[str], tool: str) -> "Chain":
        """Resolve names with prefixes; UserInputError if one is no hinge, slide, site or body."""
        ids = [joint_id(model, name) for name in joints]
        for name, joint in zip(joints, ids, strict=True):
            if model.jnt_type[joint] not in (_HINGE, _SLIDE):
                raise UserInputError(f"joint '{name}' is neither a hinge nor a slide")
        if not ids:
            raise UserInputError("a chain needs at least one joint")
        ranges = np.where(model.jnt_limited[ids, None], model.jnt_range[ids], (-np.inf, np.inf))
        site, body = tool_ids(model, tool)
        return cls(
            model=model,
            names=tuple(joints),
            tool=tool,
            site=site,
            body=body,
            qpos=model.jnt_qposadr[ids].astype(np.intp),
            dof=model.jnt_dofadr[ids].astype(np.intp),
            lower=ranges[:, 0],
            upper=ranges[:, 1],
            hinge=model.jnt_type[ids] == _HINGE,
        )

    def within(self, model: mujoco.MjModel) -> "Chain":
        """Return the same joints and tool in the model of another scene; see `of`."""
        return Chain.of(model, joints=self.names, tool=self.tool)

    @property
    def size(self) -> int:
        """Return the number of joints."""
        return len(self.names)

    def tool_frame(self, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
        """Return views of the tool's position (3,) and rotation (9,) in ``world``."""
        if self.site < 0:
            return data.xpos[self.body], data.xmat[self.body]
        return data.site_xpos[self.site], data.site_xmat[self.site]

    def tool_pose(self, data: mujoco.MjData) -> Pose:
        """Return the pose of the tool in ``world``, after ``mj_kinematics``."""
        position, rotation = self.tool_frame(data)
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, rotation)
        return Pose(position=position.copy(), quat_wxyz=quat)

    @property
    def tool_distance(self) -> float:
        """Distance of the tool from the origin of its body [m]."""
        return 0.0 if self.site < 0 else float(np.linalg.norm(self.model.site_pos[self.site]))

    def check(self, q: np.ndarray) -> None:
        """Raise UserInputError for a configuration of another size, with NaN or infinity."""
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
    """Return the id of a joint; UserInputError if there is none."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    if number < 0:
        raise unknown("joint", name, _names(model, mujoco.mjtObj.mjOBJ_JOINT, model.njnt))
    return int(number)


def tool_ids(model: mujoco.MjModel, name: str) -> tuple[int, int]:
    """Return the ids of a site, or -1, and of the body that is the tool or carries it."""
    site = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, name))
    if site >= 0:
        return site, int(model.site_bodyid[site])
    body = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name))
    if body >= 0:
        return -1, body
    raise unknown("site or body", name, tool_names(model))


def tool_names(model: mujoco.MjModel) -> list[str]:
    """Return the names of all sites and bodies."""
    sites = _names(model, mujoco.mjtObj.mjOBJ_SITE, model.nsite)
    return [*sites, *_names(model, mujoco.mjtObj.mjOBJ_BODY, model.nbody)]


def _names(model: mujoco.MjModel, kind: mujoco.mjtObj, count: int) -> list[str]:
    names = (mujoco.mj_id2name(model, kind, i) for i in range(count))
    return [name for name in names if name]
