import os
import signal
from concurrent.futures import CancelledError

import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics.limits import IkError, PlannerDiedError
from mujoco_ros.controllers.planning.planner import InlinePlanner, ProcessPlanner
from mujoco_ros.controllers.planning.requests import JointMove
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text

TIMEOUT_S = 120.0
BOX = """<mujoco><worldbody><body name="it"><freejoint/>
<geom type="box" size=".03 .03 .1"/></body></worldbody></mujoco>"""
ASIDE = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def detour(home, limits, down):
    return JointMove(
        start=home - ASIDE,
        goal=home + ASIDE,
        limits=limits,
        scene=PlanningScene(objects={"box": down(0.4, 0.13, 0.5)}),
        seed=5,
    )


@pytest.fixture(scope="module")
def easy(home, limits, down):
    return JointMove(start=home, goal=down(0.35, 0.2, 0.5), limits=limits)


def bits(plan):
    trajectory = plan.trajectory
    arrays = (trajectory.cubics, trajectory.parameters, trajectory.times, plan.waypoints)
    return b"".join(array.tobytes() for array in arrays)


@pytest.fixture(scope="module")
def process(arm):
    planner = ProcessPlanner(arm)
    yield planner
    planner.close()


def test_a_process_plans_the_same_bits(arm, process, detour, easy):
    there = process.submit(detour)
    process.submit(easy)
    again = process.submit(detour)
    here = InlinePlanner(arm).submit(detour)
    assert here.done()
    assert bits(there.result(TIMEOUT_S)) == bits(here.result())
    assert bits(again.result(TIMEOUT_S)) == bits(here.result())
    assert process.pid != os.getpid()


def test_planners_follow_another_scene(arm, process, home, limits, down):
    scene = assemble(load_scene("arm"))
    box = part_from_text(BOX, name="added", pose=PoseConfig(xyz=(3.0, 0.0, 0.5)))
    move = JointMove(
        start=home - ASIDE,
        goal=home + ASIDE,
        limits=limits,
        scene=PlanningScene(objects={"added": down(0.4, 0.13, 0.5)}),
    )
    before = process.submit(move)
    for planner in (here := InlinePlanner(arm), process):
        planner.follow(rebuild(scene, add=[box]).model)
    after = process.submit(move)
    with pytest.raises(UserInputError, match="free object 'added' not found"):
        before.result(TIMEOUT_S)
    plan = after.result(TIMEOUT_S)
    assert bits(plan) == bits(here.submit(move).result())
    assert plan.iterations > 0, "the box is in the way"
    process.follow(arm.model)


def test_a_plan_that_is_impossible_fails_with_the_reason(arm, process, home, limits, down):
    far = JointMove(start=home, goal=down(2.0, 0.0, 0.5), limits=limits)
    for planner in (InlinePlanner(arm), process):
        with pytest.raises(IkError, match="the closest is"):
            planner.submit(far).result(TIMEOUT_S)
    wrong = JointMove(start=np.zeros(3), goal=np.zeros(3), limits=limits)
    for planner in (InlinePlanner(arm), process):
        with pytest.raises(ValueError, match="6 finite numbers"):
            planner.submit(wrong).result(TIMEOUT_S)


def test_a_process_that_dies_is_replaced_and_one_that_is_closed_is_not(arm, process, easy):
    process.submit(easy).result(TIMEOUT_S)
    first = process.pid
    os.kill(first, signal.SIGSTOP)  # so that it certainly dies before it has answered
    plan = process.submit(easy)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(PlannerDiedError, match="SIGKILL"):
        plan.result(TIMEOUT_S)
    here = InlinePlanner(arm).submit(easy).result()
    assert bits(process.submit(easy).result(TIMEOUT_S)) == bits(here)
    assert process.pid != first

    os.kill(process.pid, signal.SIGSTOP)
    plan = process.submit(easy)
    process.close()
    with pytest.raises((PlannerDiedError, CancelledError), match=r"it was closed|^$"):
        plan.result(TIMEOUT_S)
    assert not os.path.exists(f"/proc/{process.pid}")
