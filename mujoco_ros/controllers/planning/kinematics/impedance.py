"""References that make an arm a spring: at its joints, or at its tool."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.pose import Pose

_LEAST_MOBILITY = 1e-2
"""Added to the tool's mobility [1/kg or 1/(kg m²)].

In a singular posture the tool weighs endlessly much along some axis; damping for that would be far
too much a little farther on.
"""


def joint_references(
    dynamics: Dynamics, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
) -> np.ndarray:
    """Return the references that follow a motion however soft the joints' gains are.

    The PD law then only corrects what the model does not know.

    Args:
        dynamics: Of the chain, with what it carries.
        q: Positions wanted.  # (k,)
        dq: Velocities wanted.  # (k,)
        ddq: Accelerations wanted.  # (k,)

    Returns:
        Positions, velocities, efforts.  # (3, k)
    """
    return np.stack([q, dq, dynamics.torques(q, dq, ddq)])


def joint_damping(
    dynamics: Dynamics, q: np.ndarray, stiffness: np.ndarray, ratio: float = 1.0
) -> np.ndarray:
    """Return the damping of joint springs in a posture [Nms/rad or Ns/m].

    Args:
        dynamics: Of the chain.
        q: The posture.  # (k,)
        stiffness: Of the springs [Nm/rad or N/m].  # (k,)
        ratio: 1 is critical for each joint by itself.
    """
    inertia = np.diag(dynamics.inertia(q))
    damping: np.ndarray = 2.0 * ratio * np.sqrt(stiffness * inertia) - dynamics.friction
    return np.asarray(np.maximum(damping, 0.0))


def cartesian_damping(
    dynamics: Dynamics, q: np.ndarray, stiffness: np.ndarray, ratio: float = 1.0
) -> np.ndarray:
    """Return the damping of a spring at the tool, for what the tool weighs along each axis.

    Args:
        dynamics: Of the chain.
        q: The posture.  # (k,)
        stiffness: Along and about the tool's x, y, z [N/m, Nm/rad].  # (6,)
        ratio: 1 is critical for each axis by itself.

    Returns:
        Along and about the same axes [Ns/m, Nms/rad].  # (6,)
    """
    kinematics = Kinematics(dynamics.chain)
    local = _to_tool(kinematics.pose(q)) @ kinematics.jacobian(q)
    mobility = local @ np.linalg.solve(dynamics.inertia(q), local.T)
    inertia = np.diag(np.linalg.inv(mobility + _LEAST_MOBILITY * np.eye(6)))
    damping: np.ndarray = 2.0 * ratio * np.sqrt(stiffness * inertia)
    return damping


class CartesianImpedance:
    """A spring and a damper between the tool and a target, along the axes of the tool.

    Joints that are told these efforts need a stiffness of zero, or a low one: they would hold
    against the spring. Some damping of their own does no harm; a chain with joints to spare needs
    it for what moves without moving the tool.
    """

    def __init__(self, dynamics: Dynamics, stiffness: np.ndarray, damping: np.ndarray) -> None:
        """Choose the spring.

        Args:
            dynamics: Of the chain, with what it carries.
            stiffness: Along and about the tool's x, y, z [N/m, Nm/rad].  # (6,)
            damping: Likewise [Ns/m, Nms/rad].  # (6,)
        """
        self.stiffness, self.damping = stiffness, damping
        self._dynamics = dynamics
        self._kinematics = Kinematics(dynamics.chain)

    def torques(
        self, target: Pose, q: np.ndarray, dq: np.ndarray, twist: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the efforts of spring, damper, gravity and Coriolis forces.

        Args:
            target: Where the tool is drawn, in ``world``.
            q: Measured positions.  # (k,)
            dq: Measured velocities.  # (k,)
            twist: Velocity of the target, linear and angular, along the axes of ``world``; 0 if
                None.  # (6,)

        Returns:
            Efforts [Nm or N].  # (k,)
        """
        pose, jacobian = self._kinematics.pose(q), self._kinematics.jacobian(q)
        to_tool = _to_tool(pose)
        local = to_tool @ jacobian
        drift = -local @ dq if twist is None else to_tool @ twist - local @ dq
        spring = self.stiffness * _offset(pose, target)
        damper = self.damping * drift
        still = np.zeros(len(q))
        efforts: np.ndarray = local.T @ (spring + damper) + self._dynamics.rigid(q, dq, still)
        return efforts


def _to_tool(pose: Pose) -> np.ndarray:
    """Return what turns twists along the axes of ``world`` into those of the tool.  # (6, 6)."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = pose.matrix.T
    return turn


def _offset(pose: Pose, target: Pose) -> np.ndarray:
    """Return where `target` is seen from `pose`: position, rotation vector.  # (6,)."""
    relative = pose.inverse() @ target
    turn = np.empty(3)
    mujoco.mju_quat2Vel(turn, relative.quat_wxyz, 1.0)
    return np.concatenate([relative.position, turn])
