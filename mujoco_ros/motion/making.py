"""How what was asked for becomes a motion."""

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.motion.chain import Chain
from mujoco_ros.motion.collisions import Collisions
from mujoco_ros.motion.curve import rounded
from mujoco_ros.motion.dynamics import Dynamics
from mujoco_ros.motion.errors import IkError
from mujoco_ros.motion.inverse_kinematics import InverseKinematics
from mujoco_ros.motion.lines import line_curve
from mujoco_ros.motion.planning import plan_path
from mujoco_ros.motion.requests import JointMove, LineMove, Plan, Request
from mujoco_ros.motion.time_scaling import time_curve
from mujoco_ros.motion.trajectory import Trajectory

_NOWHERE = 1e-7
"""A way that is none [rad or m]; one that is much shorter could not be timed."""


def make_plan(chain: Chain, request: Request) -> Plan:
    """Plan what was asked for; the same request gives the same bits.

    Raises:
        MotionError: It cannot be had, and why; the request says of which kinds.
        ModelError: The request is none for this chain.
    """
    chain.check(request.start)
    request.limits.check(chain.size)
    collisions = Collisions(chain, request.surroundings)
    if isinstance(request, JointMove):
        return _joint_move(chain, collisions, request)
    return _line_move(chain, collisions, request)


def _joint_move(chain: Chain, collisions: Collisions, request: JointMove) -> Plan:
    start, goal = request.start, request.goal
    if isinstance(goal, Pose):
        near = start if request.near is None else request.near
        goal = InverseKinematics(chain, collisions).solve(goal, near, seed=request.seed)
    else:
        chain.check(goal)
        if beyond := chain.beyond(goal):
            raise IkError(f"the goal is no posture: {beyond}")
    corners, iterations = plan_path(
        collisions, start, goal, seed=request.seed, iterations=request.iterations
    )
    trajectory = Trajectory.resting(goal)
    if np.abs(goal - start).max() > _NOWHERE:
        dynamics = Dynamics(chain, request.limits.payload)
        trajectory = time_curve(rounded(corners, collisions), request.limits, dynamics=dynamics)
    return Plan(
        trajectory=trajectory,
        waypoints=corners,
        iterations=iterations,
        checks=collisions.checks,
    )


def _line_move(chain: Chain, collisions: Collisions, request: LineMove) -> Plan:
    curve = line_curve(chain, collisions, request.start, request.goal)
    trajectory = Trajectory.resting(request.start)
    if curve is not None:
        trajectory = time_curve(
            curve,
            request.limits,
            dynamics=Dynamics(chain, request.limits.payload),
            speed=request.speed,
            acceleration=request.acceleration,
        )
    return Plan(
        trajectory=trajectory,
        waypoints=np.stack([trajectory.start, trajectory.goal]),
        checks=collisions.checks,
    )
