"""The complete task, and all its failures."""

from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.controllers.fsm.table import TransitionRejectedError
from mujoco_ros.sim.observer import contact_forces

PHASES = [
    *("IDLE", "PLAN_APPROACH", "EXEC_APPROACH", "DESCEND", "CLOSE", "WEIGH", "LIFT"),
    *("PLAN_TRANSPORT", "EXEC_TRANSPORT", "DESCEND_PLACE", "RELEASE", "RETRACT"),
]
START, GOAL = (0.35, 0.2, 0.335), (0.35, -0.2, 0.335)
FRICTION = ("arm/left_pad", "arm/right_pad", "box/box")


def error(there, goal=GOAL):
    return float(np.hypot(*(there - np.array(goal))[:2]))


def test_the_box_is_brought_to_its_goal_with_soft_joints(stage):
    lab = stage(IDLE={"gains": "lab"})
    assert lab.until("DONE", "FAILED") == "DONE"
    assert [state for state, _ in lab.made] == PHASES
    assert error(lab.where()) < 1e-3
    assert lab.controller.machine.outcome == "placed"
    assert lab.simulation.drives.kp[:4].tolist() == [200.0, 200.0, 200.0, 100.0]


def test_a_tool_that_yields_sideways_pushes_less_and_places_as_well(guided_stage):
    def settings(stiffness):
        return {name: {"lateral_stiffness": stiffness} for name in ("DESCEND", "LIFT")}

    def push(stiffness):
        """Descend beside the inclined plate, which no plan has; return the largest force [N]."""
        stage, forces = guided_stage(**settings(stiffness)), [0.0]
        guide = stage.model.body("guide/guide").id

        def look():
            if stage.state == "DESCEND" and stage.data.site("arm/grasp").xpos[2] < 0.43:
                stage.model.body_pos[guide] = 0.368, 0.242, 0.335
                found = contact_forces(stage.model, stage.data)
                touching = (found.bodies == guide).any(axis=1)
                forces.append(float(np.linalg.norm(found.forces[touching].sum(axis=0))))

        stage.until("CLOSE", "RECOVER", each=look)
        return max(forces)

    stiff, soft, softer = push(0.0), push(1000.0), push(400.0)
    assert stiff > 100.0
    assert soft < 0.7 * stiff
    assert softer < 0.4 * stiff
    free = guided_stage(**settings(400.0))
    assert free.until("DONE", "RECOVER") == "DONE"
    assert error(free.where()) < 1e-3


def test_the_box_is_brought_back_repeatedly(stage):
    loop = stage(RETRACT={"repeat": True})
    loop.until("RETRACT")
    loop.until("PLAN_APPROACH")
    assert loop.labels[-2:] == ["again", "done"]
    loop.until("RETRACT")
    loop.until("IDLE", "RECOVER")
    assert error(loop.where(), START) < 1e-3


def test_a_box_moved_during_the_approach_is_approached_again(stage):
    moved = stage()
    moved.until("EXEC_APPROACH")
    for _ in range(100):
        moved.step()
    moved.put("box", 0.42, 0.1, 0.335)
    moved.until("DONE", "FAILED", "RECOVER")
    assert moved.labels[2] == "object_moved"
    assert moved.made[-1] == ("RETRACT", "done")
    assert error(moved.where()) < 1e-3


def test_a_box_that_moves_too_often_is_a_failure(stage):
    teased = stage(PLAN_APPROACH={"moves": 2, "planning_time": 0.05})
    for side in (0.1, 0.2, 0.1):
        teased.until("EXEC_APPROACH")
        teased.put("box", 0.4, side - 0.05, 0.335)
        teased.until("PLAN_APPROACH")
    assert teased.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert teased.made[-1] == ("PLAN_APPROACH", "object_moved")
    assert teased.reason == "'box' was moved 3 times"


def test_the_fingers_are_open_before_the_descent_for_any_path_length(stage):
    shut = stage()
    for side in ("left", "right"):
        shut.data.joint(f"arm/{side}_finger_joint").qpos[0] = 0.0
    shut.put("box", 0.385, 0.133, 0.335)
    assert shut.until("DESCEND", "RECOVER", "FAILED") == "DESCEND"
    assert shut.data.joint("arm/left_finger_joint").qpos[0] > 0.028


def test_fingers_without_an_object_are_no_contact(stage):
    empty = stage(DESCEND={"drift": 9.0})
    empty.until("DESCEND")
    empty.put("box", 0.6, 0.3, 0.335)
    empty.until("RECOVER")
    assert empty.made[-1] == ("CLOSE", "no_contact")
    assert "no object between the fingers" in empty.reason
    assert empty.until("DONE", "FAILED") == "DONE"  # it detects the box again


def test_a_slippery_box_fails_after_all_retries(stage):
    icy = stage(RECOVER={"attempts": 1})
    for name in FRICTION:
        icy.model.geom(name).friction[0] = 0.15
    icy.until("RECOVER")
    assert icy.made[-1] == ("WEIGH", "slip")
    assert icy.until("FAILED", "DONE") == "FAILED"
    assert icy.labels.count("slip") == 2
    assert icy.labels[-1] == "give_up"


def test_a_box_removed_during_transport_is_a_slip(stage):
    robbed = stage()
    robbed.until("EXEC_TRANSPORT")
    for _ in range(300):
        robbed.step()
    robbed.put("box", 0.6, 0.3, 0.335)
    robbed.until("RECOVER")
    assert robbed.made[-1] == ("EXEC_TRANSPORT", "slip")


def test_an_obstacle_placed_after_planning_is_a_collision(stage):
    blocked = stage()
    blocked.until("EXEC_TRANSPORT")
    elbow = blocked.data.site("arm/grasp").xpos.copy()
    blocked.until("RECOVER", each=lambda: blocked.put("brick", 0.42, 0.05, elbow[2]))
    state, label = blocked.made[-1]
    assert (state, label) == ("EXEC_TRANSPORT", "collision")


def test_a_planner_without_iterations_fails_where_another_succeeds(stage):
    hasty = stage(PLAN_APPROACH={"iterations": 0}, RECOVER={"attempts": 1, "calm": 0.1})
    hasty.put("box", 0.35, -0.2, 0.335)

    def hang() -> None:  # halfway, in the air
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
def test_an_unreachable_goal_is_reported_before_the_grasp(stage, there, goal, what):
    short = stage(IDLE={"goal": list(goal)})
    short.put("box", *there)
    assert short.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert short.made[-1] == ("PLAN_APPROACH", "ik_failed")
    assert short.reason.startswith(f"{what} is out of reach: no configuration brings arm/grasp to")


def test_a_blocked_line_is_not_a_failure_of_kinematics(stage):
    blocked = stage()
    blocked.until("DESCEND", each=lambda: blocked.put("brick", 0.35, 0.255, 0.335))
    blocked.until("RECOVER")
    assert blocked.made[-1] == ("DESCEND", "no_path")
    assert "on the line, " in blocked.reason


def test_missing_feedback_is_a_failure_before_any_motion(stage):
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


def test_a_lost_effort_measurement_ends_the_motion(stage):
    muted = stage()
    muted.until("EXEC_APPROACH")
    muted.host.observation_filter = lambda seen: replace(
        seen, effort=np.where(seen.q > 1.0, np.nan, 0.0)
    )
    assert muted.until("FAILED") == "FAILED"
    assert muted.labels[-2:] == ["tracking", "give_up"]


def test_an_unknown_object_is_reported_with_the_known_ones(stage):
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


def test_a_push_beyond_the_effort_limits_is_a_saturation(stage):
    weak = stage(EXEC_APPROACH={"push": 9.0, "tracking": 9.0})
    weak.until("EXEC_APPROACH")
    weak.data.xfrc_applied[weak.model.body("arm/forearm_link").id, 2] = -600.0
    weak.until("RECOVER", "DESCEND", "FAILED")
    assert weak.made[-1] == ("EXEC_APPROACH", "saturated")


def test_a_box_moved_after_its_release_is_placed_again(stage):
    shoved = stage()
    shoved.until("RETRACT")
    shoved.until("RECOVER", "DONE", each=lambda: shoved.put("box", 0.37, -0.2, 0.335))
    assert shoved.made[-1] == ("RETRACT", "missed_place")
    assert shoved.until("DONE", "FAILED") == "DONE"
    assert error(shoved.where()) < 1e-3


def test_a_restarted_controller_continues_with_the_object_in_the_hand(stage):
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


def test_abort_stops_the_task_and_other_requests_are_rejected(stage):
    stopped = stage()
    stopped.until("EXEC_APPROACH")
    with pytest.raises(TransitionRejectedError, match="abort"):
        stopped.host.supervised.request("again")
    stopped.request("abort")
    assert stopped.state == "FAILED"
    stopped.request("again")
    assert stopped.until("EXEC_APPROACH", "FAILED") == "EXEC_APPROACH"
