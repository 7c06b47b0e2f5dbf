from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import IkError, MotionLimits
from mujoco_ros.controllers.planning.motion_planner import MotionPlanner
from mujoco_ros.controllers.planning.requests import JointMove, LineMove
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

ASIDE = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
OPEN = {"arm/left_finger_joint": 0.03, "arm/right_finger_joint": 0.03}
IN_HAND = HeldObject(
    object="box", pose=Pose(position=np.zeros(3), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
)


def test_a_pose_is_reached_around_an_obstacle(arm, home, limits, down):
    kinematics = Kinematics(arm)
    start, beyond = home - ASIDE, home + ASIDE
    scene = PlanningScene(objects={"box": down(0.4, 0.13, 0.5)}, joints=OPEN)
    goal = kinematics.pose(beyond)
    move = JointMove(start=start, goal=goal, limits=limits, scene=scene, near=beyond)
    plan = MotionPlanner(arm).plan(move)
    assert plan.iterations > 0
    assert plan.trajectory.start == pytest.approx(start)
    assert kinematics.pose(plan.trajectory.goal).position == pytest.approx(goal.position, abs=1e-5)
    checker = CollisionChecker(arm, scene)
    times = np.arange(0.0, plan.trajectory.duration, 1e-3)
    assert all(checker.is_free(q, 0.5) for q in plan.trajectory.samples(times)[0])
    assert plan.checks > 100


def test_the_labs_transport_moves_up_across_and_down(arm, home, limits, down):
    """Grip, lift, transport and place at the grasping lab's positions."""

    def line(start, goal, **scene):
        around = PlanningScene(joints=OPEN, **scene)
        return MotionPlanner(arm).plan(
            LineMove(start=start, goal=goal, limits=limits, scene=around)
        )

    on_table = {"objects": {"box": down(0.35, 0.2, 0.335)}, "allowed": (("box", "arm"),)}
    held = {"held": IN_HAND}
    move = JointMove(
        start=home,
        goal=down(0.35, 0.2, 0.485),
        limits=limits,
        scene=PlanningScene(joints=OPEN, objects=on_table["objects"]),
    )
    above = MotionPlanner(arm).plan(move).trajectory.goal
    grip = line(above, down(0.35, 0.2, 0.335), **on_table).trajectory
    up = line(grip.goal, down(0.35, 0.2, 0.485), **held, allowed=(("box", "table"),)).trajectory
    across = (
        MotionPlanner(arm)
        .plan(
            JointMove(
                start=up.goal,
                goal=down(0.35, -0.2, 0.485),
                limits=limits,
                scene=PlanningScene(joints=OPEN, **held),
            ),
        )
        .trajectory
    )
    place = line(across.goal, down(0.35, -0.2, 0.335), **held, allowed=(("box", "table"),))
    reached = Kinematics(arm).pose(place.trajectory.goal)
    assert reached.position == pytest.approx([0.35, -0.2, 0.335], abs=1e-5)
    total = sum(it.duration for it in (grip, up, across, place.trajectory))
    assert total < 4.5


def test_earlier_requests_change_no_bit(arm, home, limits, down):
    table, box = ("box", "table"), {"box": down(0.35, 0.2, 0.335)}
    first = JointMove(
        start=home - ASIDE,
        goal=home + ASIDE,
        limits=limits,
        scene=PlanningScene(objects={"box": down(0.4, 0.13, 0.5)}, joints=OPEN),
    )
    others = [
        LineMove(
            start=home,
            goal=down(0.38, 0.13, 0.4),
            limits=limits,
            scene=PlanningScene(held=IN_HAND, allowed=(table,), margin=0.002),
        ),
        JointMove(
            start=home,
            goal=down(0.35, 0.2, 0.485),
            limits=limits,
            scene=PlanningScene(objects=box),
        ),
    ]
    planner = MotionPlanner(arm)
    for request in (first, *others, first):
        again, fresh = planner.plan(request), MotionPlanner(arm).plan(request)
        assert again.waypoints.tobytes() == fresh.waypoints.tobytes()
        assert again.trajectory.times.tobytes() == fresh.trajectory.times.tobytes()
        assert again.checks == fresh.checks
    with pytest.raises(UserInputError, match="free object 'ball' not found"):
        planner.plan(replace(first, scene=PlanningScene(objects={"ball": box["box"]})))
    assert planner.plan(first).checks == again.checks, "a rejected request has no effect"


def test_a_motion_to_the_start_takes_no_time(arm, home, limits):
    assert (
        MotionPlanner(arm).plan(JointMove(start=home, goal=home, limits=limits)).trajectory.duration
        == 0
    )
    here = Kinematics(arm).pose(home)
    line = MotionPlanner(arm).plan(LineMove(start=home, goal=here, limits=limits)).trajectory
    assert line.duration == 0.0
    assert line.goal == pytest.approx(home)


@pytest.mark.parametrize("far", [1e-9, 1e-8, 1e-7, 1e-6, 1e-5])
def test_a_tiny_motion_is_planned(arm, home, limits, far):
    step = JointMove(start=home, goal=home + far, limits=limits)
    assert MotionPlanner(arm).plan(step).trajectory.goal == pytest.approx(home + far, abs=1e-12)
    here = Kinematics(arm).pose(home)
    there = Pose(position=here.position - [0.0, 0.0, far], quat_wxyz=here.quat_wxyz)
    reached = (
        MotionPlanner(arm).plan(LineMove(start=home, goal=there, limits=limits)).trajectory.goal
    )
    assert Kinematics(arm).pose(reached).position == pytest.approx(there.position, abs=1e-6)


def test_a_line_limits_the_tools_speed(arm, home, limits, down):
    goal = Kinematics(arm).pose(home).position - [0.0, 0.0, 0.1]
    move = LineMove(start=home, goal=down(*goal), limits=limits, speed=0.05, acceleration=0.5)
    trajectory = MotionPlanner(arm).plan(move).trajectory
    assert trajectory.duration == pytest.approx(0.1 / 0.05 + 0.05 / 0.5, rel=0.02)


def test_a_goal_beyond_a_limit_names_the_joint(arm, home, limits):
    beyond = np.where(np.arange(6) == 2, 3.35, home)
    with pytest.raises(IkError, match=r"elbow_joint at 3.3500 is beyond its limits"):
        MotionPlanner(arm).plan(JointMove(start=home, goal=beyond, limits=limits))


def test_a_request_for_another_chain_is_rejected(arm, home, limits):
    with pytest.raises(UserInputError, match="6 finite numbers"):
        MotionPlanner(arm).plan(JointMove(start=home[:5], goal=home, limits=limits))
    five = MotionLimits(velocity=np.ones(5), acceleration=np.ones(5))
    with pytest.raises(UserInputError, match="velocity: expected 6 numbers"):
        MotionPlanner(arm).plan(JointMove(start=home, goal=home, limits=five))


def test_a_goal_with_nan_and_a_negative_seed_are_rejected(home, limits, down):
    for kind in (JointMove, LineMove):
        with pytest.raises(UserInputError, match="the goal needs a valid pose"):
            kind(start=home, goal=down(0.4, np.nan, 0.3), limits=limits)
    with pytest.raises(UserInputError, match="seed must be 0 or more, got -1"):
        JointMove(start=home, goal=home, limits=limits, seed=-1)


@pytest.mark.parametrize("name", ["speed", "acceleration"])
def test_a_line_without_speed_is_rejected(home, limits, down, name):
    with pytest.raises(UserInputError, match=f"{name} must be more than 0"):
        LineMove(start=home, goal=down(0.0, 0.0, 0.0), limits=limits, **{name: 0.0})
