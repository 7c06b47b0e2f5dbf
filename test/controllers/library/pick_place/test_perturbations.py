"""Perturbations of the task: the causes of failures, and what happens to the box."""

from collections import deque
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.variations import (
    USUAL,
    noise_filter,
    scaled,
    set_box_size,
    set_mass,
)
from mujoco_ros.controllers.library.pick_place.arm import largest_mass
from mujoco_ros.controllers.library.pick_place.task import TASK

START, GOAL = (0.35, 0.2), (0.35, -0.2)
BOX, PADS = "box/box", ("arm/left_pad", "arm/right_pad")


def resting_at(stage, place, *, height=0.335, tolerance=0.005) -> bool:
    """Return whether the box stands at a place on the table, outside of the hand."""
    error = stage.where() - np.array([*place, height])
    fingers = [stage.data.joint(f"arm/{side}_finger_joint").qpos[0] for side in ("left", "right")]
    is_open = min(fingers) > 0.004
    return bool(np.linalg.norm(error) < tolerance) and is_open


def load(stage, mass: float) -> None:
    """Set the mass of the box [kg], which the controller does not know."""
    set_mass(stage.model, stage.model.body(BOX).id, mass)
    mujoco.mj_setConst(stage.model, mujoco.MjData(stage.model))


def friction_limit(stage, friction: float) -> float:
    """Return the mass [kg] whose weight is the largest friction of the present grip."""
    force = abs(float(stage.data.joint("arm/left_finger_joint").qfrc_actuator[0]))
    return friction * force / 9.81


def test_a_box_that_is_too_heavy_is_refused_by_name_and_set_down(stage):
    heavy = stage()
    load(heavy, 1.5)
    assert heavy.until("FAILED", "DONE", limit=40.0) == "FAILED"
    assert friction_limit(heavy, 1.5) < 1.5
    assert ("WEIGH", "too_heavy") in heavy.made
    assert heavy.made[-1] == ("RETRACT", "returned")
    assert "contact_oscillation" not in heavy.labels
    assert resting_at(heavy, START, tolerance=0.01)


def test_a_box_near_the_limit_is_carried(stage):
    loaded = stage()
    mass = 0.95 * largest_mass(6.0, 1.5)  # 6 N close the fingers on 40 mm
    load(loaded, mass)
    assert loaded.until("DONE", "FAILED", limit=30.0) == "DONE"
    assert resting_at(loaded, GOAL)
    assert loaded.controller.store.get(TASK).metrics["payload"] == pytest.approx(mass, abs=0.02)


def test_an_order_beyond_the_limit_is_refused_before_the_arm_moves(stage):
    ordered = stage(IDLE={"mass": 3.0})
    assert ordered.until("FAILED", "PLAN_APPROACH") == "FAILED"
    assert ordered.made == [("IDLE", "too_heavy")]
    limit = largest_mass(20.0, 1.5)
    assert f"holds at most {limit:.2f} kg with 20 N and friction 1.5" in ordered.reason


def frozen_from(stage, state):
    """Freeze the measured pose of the box when a state starts; its stamps are always new."""
    kept = {}

    def observe(seen):
        if stage.state == state or kept:
            kept.setdefault("box", seen.objects["box"])
            return replace(seen, objects={**seen.objects, **kept})
        return seen

    stage.host.observation_filter = observe


@pytest.mark.parametrize("state", ["DESCEND", "LIFT", "EXEC_TRANSPORT"])
def test_a_frozen_pose_is_named_and_the_box_is_put_back(stage, state):
    frozen = stage(RECOVER={"attempts": 1})
    frozen_from(frozen, state)
    assert frozen.until("FAILED", "DONE", limit=60.0) == "FAILED"
    assert "pose_stale" in frozen.labels
    assert "slip" not in frozen.labels
    assert frozen.made[-1] == ("RETRACT", "returned")
    assert "the order failed with pose_stale; 'box' was put back" in frozen.reason
    assert resting_at(frozen, START, tolerance=0.01)


def test_a_pose_that_is_no_longer_updated_is_named_with_its_age(stage):
    silent = stage(RECOVER={"attempts": 0})
    silent.until("LIFT")
    time, last = silent.simulation.time, silent.where()
    assert last[2] > 0.335
    kept = {}

    def observe(seen):
        kept.setdefault("objects", seen.objects)
        times = dict.fromkeys(seen.objects, time)
        return replace(seen, objects=kept["objects"], object_times=times)

    silent.host.observation_filter = observe
    assert silent.until("RECOVER") == "RECOVER"
    assert silent.made[-1] == ("LIFT", "pose_stale")
    assert silent.until("FAILED", limit=40.0) == "FAILED"
    assert resting_at(silent, START, tolerance=0.01)


def test_a_pose_that_is_up_to_date_again_lets_the_task_continue(stage):
    gap = stage()
    gap.until("EXEC_TRANSPORT")
    begin, kept = gap.simulation.time, {}

    def observe(seen):
        kept.setdefault("objects", seen.objects)
        if seen.time > begin + 1.0:
            return seen
        return replace(
            seen, objects=kept["objects"], object_times=dict.fromkeys(seen.objects, begin)
        )

    gap.host.observation_filter = observe
    assert gap.until("DONE", "FAILED", limit=30.0) == "DONE"
    assert gap.labels.count("pose_stale") == 1
    assert resting_at(gap, GOAL)


@pytest.mark.parametrize("is_stamped", [True, False])
def test_a_pose_that_is_100_ms_late_is_not_a_slip(stage, is_stamped):
    late = stage()
    seen_before = deque(maxlen=1 + round(0.1 / 0.008))

    def observe(seen):
        seen_before.append(seen)
        old = seen_before[0]
        times = old.object_times if is_stamped else seen.object_times
        return replace(seen, objects=old.objects, object_times=times)

    late.host.observation_filter = observe
    assert late.until("DONE", "FAILED", limit=30.0) == "DONE"
    assert "RECOVER" not in {state for state, _ in late.made}
    assert resting_at(late, GOAL)


def test_offsets_of_encoders_against_the_drives_are_not_tracking_errors(stage):
    biased = stage()
    offset = np.array([5e-3, -5e-3, 5e-3, 5e-3, -5e-3, 5e-3, 0.0, 0.0])
    biased.host.observation_filter = lambda seen: replace(seen, q=seen.q + offset)
    assert biased.until("DONE", "FAILED", limit=30.0) == "DONE"
    assert "tracking" not in biased.labels
    assert resting_at(biased, GOAL)


def test_ten_times_the_usual_noise_is_not_an_oscillation(stage):
    noisy = stage()
    noisy.host.observation_filter = noise_filter(scaled(USUAL, 10.0), 3)
    assert noisy.until("DONE", "FAILED", limit=40.0) == "DONE"
    assert "contact_oscillation" not in noisy.labels
    assert resting_at(noisy, GOAL)


def bigger(stage, size: float):
    """Make the box larger, for the simulation and for the controller's model."""
    set_box_size(stage.model, stage.model.body(BOX).id, (size, size, size))
    stage.put("box", *START, 0.315 + size / 2)
    mujoco.mj_forward(stage.model, stage.data)
    stage.restart(stage.changes)


def test_the_goal_can_be_the_height_of_the_surface(stage):
    on_top = stage(IDLE={"goal": [*GOAL, 0.315, 0.0], "goal_height": "surface"})
    bigger(on_top, 0.06)
    assert on_top.until("DONE", "FAILED", limit=30.0) == "DONE"
    assert resting_at(on_top, GOAL, height=0.345)
    assert "RECOVER" not in {state for state, _ in on_top.made}


def test_a_goal_inside_of_the_table_is_refused_before_the_grasp(stage):
    pressed = stage()  # the default goal is for the centre of a box of 40 mm
    bigger(pressed, 0.06)
    assert pressed.until("FAILED", "EXEC_APPROACH") == "FAILED"
    assert pressed.made[-1] == ("PLAN_APPROACH", "goal_blocked")
    assert "'box' at its goal would be 10 mm inside of 'table/table'" in pressed.reason
    assert "IDLE.goal_height: surface" in pressed.reason


def test_every_retry_changes_something(stage):
    icy = stage()
    for name in (BOX, *PADS):
        icy.model.geom(name).friction[0] = 0.15
    icy.until("PLAN_APPROACH")
    changes, variations = [], []
    while icy.until("FAILED", "RECOVER", limit=30.0) == "RECOVER":
        icy.until("FAILED", "PLAN_APPROACH", "PLAN_TRANSPORT", limit=30.0)
        changes.append(icy.reason)
        variations.append(icy.controller.store.get(TASK).variation)
    assert changes[0].startswith("retry 1: grasp turned by 90°, grasp 3 mm lower, pose measured")
    assert changes[1].startswith("retry 2: grasp turned by 180°, grasp 6 mm lower, pose measured")
    assert variations[0] != variations[1]


def test_a_box_in_the_hand_is_put_back_after_the_last_retry(stage):
    blocked = stage(RECOVER={"attempts": 1}, EXEC_TRANSPORT={"force": 1e-3})
    blocked.until("EXEC_TRANSPORT")
    blocked.until("RECOVER")
    assert blocked.made[-1] == ("EXEC_TRANSPORT", "collision")
    blocked.until("RECOVER", "FAILED", limit=1.0)
    blocked.controller.machine.configure("EXEC_TRANSPORT", {"force": 1e-3})
    blocked.until("PLAN_TRANSPORT")
    blocked.until("RECOVER")
    blocked.until("PLAN_TRANSPORT")
    blocked.controller.machine.configure("EXEC_TRANSPORT", {"force": 40.0})
    assert blocked.until("FAILED", limit=40.0) == "FAILED"
    assert "put_back" in blocked.labels
    assert blocked.made[-1] == ("RETRACT", "returned")
    assert resting_at(blocked, START)
