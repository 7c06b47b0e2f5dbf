"""Impedance control: references that make joints or the tool behave like a spring."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.pose import Pose

_MIN_MOBILITY = 1e-2
"""Added to the tool's mobility [1/kg or 1/(kg m²)].

At a singularity the tool's inertia along some axis is infinite; the damping for it would be far
too high next to the singularity.
"""


def joint_references(
    dynamics: Dynamics, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
) -> np.ndarray:
    """Return the references that follow a motion with any gains of the joints.

    The PD law corrects only the errors of the model.

    Returns:
        Positions, velocities, efforts.  # (3, k)
    """
    return np.stack([q, dq, dynamics.torques(q, dq, ddq)])


def joint_damping(
    dynamics: Dynamics, q: np.ndarray, stiffness: np.ndarray, ratio: float = 1.0
) -> np.ndarray:
    """Return the damping of joint springs in a configuration [Nms/rad or Ns/m].

    Args:
        dynamics: Inverse dynamics of the chain.
        q: The configuration.  # (k,)
        stiffness: Stiffness of the springs [Nm/rad or N/m].  # (k,)
        ratio: Damping ratio of each joint; 1 is critical.
    """
    inertia = np.diag(dynamics.inertia(q))
    damping: np.ndarray = 2.0 * ratio * np.sqrt(stiffness * inertia) - dynamics.friction
    return np.asarray(np.maximum(damping, 0.0))


def cartesian_damping(
    dynamics: Dynamics, q: np.ndarray, stiffness: np.ndarray, ratio: float = 1.0
) -> np.ndarray:
    """Return the damping of a spring at the tool, from the tool's inertia along each axis.

    Args:
        dynamics: Inverse dynamics of the chain.
        q: The configuration.  # (k,)
        stiffness: Along and about the tool's x, y, z [N/m, Nm/rad].  # (6,)
        ratio: Damping ratio of each axis; 1 is critical.

    Returns:
        Along and about the same axes [Ns/m, Nms/rad].  # (6,)
    """
    kinematics = Kinematics(dynamics.chain)
    local = _to_tool(kinematics.pose(q)) @ kinematics.jacobian(q)
    mobility = local @ np.linalg.solve(dynamics.inertia(q), local.T)
    inertia = np.diag(np.linalg.inv(mobility + _MIN_MOBILITY * np.eye(6)))
    damping: np.ndarray = 2.0 * ratio * np.sqrt(stiffness * inertia)
    return damping


class CartesianImpedance:
    """A spring and a damper between the tool and a target, along the axes of the tool.

    Joints commanded with these efforts need a stiffness of zero, or a low one, as their own springs
    act against the tool's. Damping of the joints is possible; a redundant chain needs it for its
    null space.
    """

    def __init__(self, dynamics: Dynamics, stiffness: np.ndarray, damping: np.ndarray) -> None:
        """Set the spring.

        Args:
            dynamics: Inverse dynamics of the chain, with its payload.
            stiffness: Along and about the tool's x, y, z [N/m, Nm/rad].  # (6,)
            damping: Along and about the same axes [Ns/m, Nms/rad].  # (6,)
        """
        self.stiffness, self.damping = stiffness, damping
        self._dynamics = dynamics
        self._kinematics = Kinematics(dynamics.chain)

    def torques(
        self, target: Pose, q: np.ndarray, dq: np.ndarray, twist: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the efforts of spring, damper, gravity and Coriolis forces.

        Args:
            target: Pose at the other end of the spring, in ``world``.
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
        velocity = -local @ dq if twist is None else to_tool @ twist - local @ dq
        spring = self.stiffness * _offset(pose, target)
        damper = self.damping * velocity
        still = np.zeros(len(q))
        efforts: np.ndarray = local.T @ (spring + damper) + self._dynamics.rigid(q, dq, still)
        return efforts


def _to_tool(pose: Pose) -> np.ndarray:
    """Return the rotation of twists from the axes of ``world`` to those of the tool.  # (6, 6)."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = pose.matrix.T
    return turn


def _offset(pose: Pose, target: Pose) -> np.ndarray:
    """Return the pose of `target` in the frame `pose`: position, rotation vector.  # (6,)."""
    relative = pose.inverse() @ target
    turn = np.empty(3)
    mujoco.mju_quat2Vel(turn, relative.quat_wxyz, 1.0)
    return np.concatenate([relative.position, turn])
