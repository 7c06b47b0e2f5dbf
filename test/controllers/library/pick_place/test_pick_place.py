"""The whole task, and every way in which it can fail: each is seen by a state's own check."""

from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.controllers.fsm.transition import TransitionRejectedError

PHASES = [
    *("IDLE", "PLAN_APPROACH", "EXEC_APPROACH", "DESCEND", "CLOSE", "LIFT", "PLAN_TRANSPORT"),
    *("EXEC_TRANSPORT", "DESCEND_PLACE", "RELEASE", "RETRACT"),
]
START, GOAL = (0.35, 0.2, 0.335), (0.35, -0.2, 0.335)
FRICTION = ("arm/left_pad", "arm/right_pad", "box/box")


def error(there, goal=GOAL):
    return float(np.hypot(*(there - np.array(goal))[:2]))


def test_the_box_is_brought_to_its_goal_with_soft_joints_as_well(stage):
    lab = stage(IDLE={"gains": "lab"})
    assert lab.until("DONE", "FAILED") == "DONE"
    assert [state for state, _ in lab.made] == PHASES
    assert error(lab.where()) < 1e-3
    assert lab.controller.machine.outcome == "placed"
    assert lab.simulation.drives.kp[:4].tolist() == [200.0, 200.0, 200.0, 100.0]


def test_it_begins_anew_and_brings_the_box_back_again_and_again(stage):
    loop = stage(RETRACT={"repeat": True})
    loop.until("RETRACT")
    loop.until("PLAN_APPROACH")
    assert loop.labels[-2:] == ["again", "done"]
    loop.until("RETRACT")
    loop.until("IDLE", "RECOVER")
    assert error(loop.where(), START) < 1e-3


def test_a_box_that_is_moved_by_hand_on_the_approach_is_approached_where_it_is(stage):
    moved = stage()
    moved.until("EXEC_APPROACH")
    for _ in range(100):
        moved.step()
    moved.put("box", 0.42, 0.1, 0.335)
    moved.until("DONE", "FAILED", "RECOVER")
    assert moved.labels[2] == "object_moved"
    assert moved.made[-1] == ("RETRACT", "done")
    assert error(moved.where()) < 1e-3


def test_a_box_that_never_stays_is_given_up(stage):
    teased = stage(PLAN_APPROACH={"moves": 2, "planning_time": 0.05})
    for side in (0.1, 0.2, 0.1):
        teased.until("EXEC_APPROACH")
        teased.put("box", 0.4, side - 0.05, 0.335)
        teased.until("PLAN_APPROACH")
    assert teased.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert teased.made[-1] == ("PLAN_APPROACH", "object_moved")
    assert teased.reason == "'box' was moved 3 times"


def test_closed_fingers_are_open_before_they_come_down_however_short_the_way(stage):
    shut = stage()
    for side in ("left", "right"):
        shut.data.joint(f"arm/{side}_finger_joint").qpos[0] = 0.0
    shut.put("box", 0.385, 0.133, 0.335)
    assert shut.until("DESCEND", "RECOVER", "FAILED") == "DESCEND"
    assert shut.data.joint("arm/left_finger_joint").qpos[0] > 0.028


def test_fingers_that_close_on_nothing_are_no_contact(stage):
    empty = stage(DESCEND={"drift": 9.0})
    empty.until("DESCEND")
    empty.put("box", 0.6, 0.3, 0.335)
    empty.until("RECOVER")
    assert empty.made[-1] == ("CLOSE", "no_contact")
    assert "no object between the fingers" in empty.reason
    assert empty.until("DONE", "FAILED") == "DONE"  # it looks again where the box is


def test_a_box_that_is_too_slippery_slips_and_is_given_up_in_the_end(stage):
    icy = stage(RECOVER={"attempts": 1})
    for name in FRICTION:
        icy.model.geom(name).friction[0] = 0.15
    icy.until("RECOVER")
    assert icy.made[-1] == ("LIFT", "slip")
    assert icy.until("FAILED", "DONE") == "FAILED"
    assert icy.labels.count("slip") == 2
    assert icy.labels[-1] == "give_up"


def test_a_box_that_is_taken_away_in_transport_is_a_slip(stage):
    robbed = stage()
    robbed.until("EXEC_TRANSPORT")
    for _ in range(300):
        robbed.step()
    robbed.put("box", 0.6, 0.3, 0.335)
    robbed.until("RECOVER")
    assert robbed.made[-1] == ("EXEC_TRANSPORT", "slip")


def test_what_is_put_in_the_way_after_planning_is_a_collision(stage):
    blocked = stage()
    blocked.until("EXEC_TRANSPORT")
    elbow = blocked.data.site("arm/grasp").xpos.copy()
    blocked.until("RECOVER", each=lambda: blocked.put("brick", 0.42, 0.05, elbow[2]))
    state, label = blocked.made[-1]
    assert (state, label) == ("EXEC_TRANSPORT", "collision")


def test_a_planner_that_may_not_try_gives_up_at_what_another_passes_by(stage):
    hasty = stage(PLAN_APPROACH={"iterations": 0}, RECOVER={"attempts": 1, "calm": 0.1})
    hasty.put("box", 0.35, -0.2, 0.335)

    def hang() -> None:  # half way, in the air
        hasty.put("brick", 0.37, -0.03, 0.5)

    assert hasty.until("FAILED", "DESCEND", each=hang) == "FAILED"
    assert hasty.made[1] == ("PLAN_APPROACH", "planner_timeout")
    hasty.controller.machine.configure("PLAN_APPROACH", {"iterations": 3000})
    hasty.request("again")
    assert hasty.until("FAILED", "DESCEND", each=hang) == "DESCEND"


@pytest.mark.parametrize(
    ("there", "goal", "what"),
    [((0.95, 0.3, 0.335), (*GOAL, 0.0), "'box'"), (START, (0.95, -0.3, 0.335, 0.0), "the goal")],
)
def test_what_is_out_of_reach_is_known_before_the_box_is_in_the_hand(stage, there, goal, what):
    short = stage(IDLE={"goal": list(goal)})
    short.put("box", *there)
    assert short.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert short.made[-1] == ("PLAN_APPROACH", "ik_failed")
    assert short.reason.startswith(f"{what} is out of reach: no posture brings arm/grasp to")


def test_a_line_with_something_in_its_way_is_no_failure_of_kinematics(stage):
    blocked = stage()
    blocked.until("DESCEND", each=lambda: blocked.put("brick", 0.35, 0.255, 0.335))
    blocked.until("RECOVER")
    assert blocked.made[-1] == ("DESCEND", "no_path")
    assert "on the line, " in blocked.reason


def test_a_robot_that_does_not_tell_what_is_watched_is_refused_before_anything_moves(stage):
    mute = stage()
    nothing = np.full(8, np.nan)
    mute.host.observation_filter = lambda seen: replace(seen, dq=nothing, effort=nothing)
    assert mute.until("FAILED", "PLAN_APPROACH") == "FAILED"
    assert mute.made == [("IDLE", "no_feedback")]
    assert mute.reason.startswith("robot 'arm' reports no velocity of shoulder_pan_joint, ")
    assert " and no effort of shoulder_pan_joint, " in mute.reason
    mute.request("again")
    assert mute.until("FAILED", "PLAN_APPROACH") == "FAILED"
    assert mute.made[-1] == ("RECOVER", "give_up")


def test_an_effort_that_is_not_told_any_more_ends_the_motion(stage):
    muted = stage()
    muted.until("EXEC_APPROACH")
    muted.host.observation_filter = lambda seen: replace(
        seen, effort=np.where(seen.q > 1.0, np.nan, 0.0)
    )
    assert muted.until("FAILED") == "FAILED"
    assert muted.labels[-2:] == ["tracking", "give_up"]


def test_an_object_that_is_not_known_is_named_with_those_that_are(stage):
    blind = stage(IDLE={"object": "ball"})
    assert blind.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert blind.made[-1] == ("PLAN_APPROACH", "no_object")
    assert "'ball' not found; known: box, brick" in blind.reason


def test_fingers_on_a_soft_contact_without_damping_oscillate(stage):
    soft = stage()
    soft.model.actuator_biasprm[soft.model.actuator("arm/gripper").id, 2] = 0.0
    for side in ("left", "right"):
        soft.model.dof_damping[soft.model.joint(f"arm/{side}_finger_joint").dofadr[0]] = 0.0
    for name in FRICTION:
        soft.model.geom(name).solref[:] = (0.02, 0.02)
    soft.until("RECOVER")
    assert soft.made[-1] == ("CLOSE", "contact_oscillation")


def test_a_push_that_joints_cannot_bear_is_seen_and_a_weak_motor_is_called_saturated(stage):
    weak = stage(EXEC_APPROACH={"push": 9.0, "tracking": 9.0})
    weak.until("EXEC_APPROACH")
    weak.data.xfrc_applied[weak.model.body("arm/forearm_link").id, 2] = -600.0
    weak.until("RECOVER", "DESCEND", "FAILED")
    assert weak.made[-1] == ("EXEC_APPROACH", "saturated")


def test_a_box_that_is_shoved_after_its_release_is_missed_and_placed_anew(stage):
    shoved = stage()
    shoved.until("RETRACT")
    shoved.until("RECOVER", "DONE", each=lambda: shoved.put("box", 0.37, -0.2, 0.335))
    assert shoved.made[-1] == ("RETRACT", "missed_place")
    assert shoved.until("DONE", "FAILED") == "DONE"
    assert error(shoved.where()) < 1e-3


def test_a_controller_that_died_in_mid_task_is_succeeded_by_one_that_brings_on_what_is_held(stage):
    first = stage()
    first.until("EXEC_TRANSPORT")
    for _ in range(400):
        first.step()
    height = first.where()[2]
    first.restart()
    first.made.clear()
    assert first.until("DONE", "FAILED") == "DONE"
    assert first.made[0] == ("IDLE", "holding")
    assert error(first.where()) < 1e-3
    assert height > 0.45


def test_abort_stops_it_and_what_is_not_available_is_refused_with_what_is(stage):
    stopped = stage()
    stopped.until("EXEC_APPROACH")
    with pytest.raises(TransitionRejectedError, match="abort"):
        stopped.host.supervised.request("again")
    stopped.request("abort")
    assert stopped.state == "FAILED"
    stopped.request("again")
    assert stopped.until("EXEC_APPROACH", "FAILED") == "EXEC_APPROACH"
