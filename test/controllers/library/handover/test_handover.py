"""A box that is handed over from arm to arm."""

import time
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.evaluation.episode import run_episode
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.boxes import Perturbations
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.task import TASK
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

ORDER = (
    *("IDLE", "PLAN_APPROACH", "EXEC_APPROACH", "DESCEND", "CLOSE", "WEIGH", "LIFT"),
    *("PLAN_PRESENT", "EXEC_PRESENT", "PLAN_REACH", "EXEC_REACH", "ADVANCE", "GRASP", "LET_GO"),
    *(
        "TAKE",
        "WITHDRAW",
        "PLAN_TRANSPORT",
        "EXEC_TRANSPORT",
        "DESCEND_PLACE",
        "RELEASE",
        "RETRACT",
    ),
)


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return assemble(load_scene("handover"))


class Stage:
    """A simulation with the hosted controller."""

    def __init__(
        self, assembly: Assembly, changes: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.simulation = Simulation(replace(assembly, model=copy(assembly.model)))
        self.controller = load("handover", settings=changes or {})
        self.host = ControllerHost(self.simulation, self.controller)

    @property
    def state(self) -> str:
        return self.controller.machine.state

    def until(self, *states: str, limit: float = 20.0) -> str:
        while self.state not in states:
            assert self.simulation.time < limit, self.state
            assert self.host.tick()
            assert not self.host.supervised.error
        return self.state

    def holders(self) -> set[str]:
        """Return the arms whose pads touch the box."""
        model, data = self.simulation.model, self.simulation.data
        box, found = model.geom("box/box").id, set()
        for pair in data.contact.geom:
            if box in pair:
                other = model.geom(int(pair.sum()) - box).name
                found |= {other.partition("/")[0]} if other.endswith("_pad") else set()
        return found


def test_the_box_goes_from_hand_to_hand(assembly):
    stage = Stage(assembly)
    assert stage.host.claims.keys() == {"left_arm", "right_arm"}
    box = stage.simulation.data.joint("box/box_free")
    for state, holders in (
        ("EXEC_PRESENT", {"left_arm"}),
        ("GRASP", {"left_arm"}),
        ("LET_GO", {"left_arm", "right_arm"}),
        ("WITHDRAW", {"right_arm"}),
        ("RELEASE", {"right_arm"}),
        ("DONE", set()),
    ):
        stage.until(state)
        assert stage.holders() == holders, state
        if state == "GRASP":
            assert box.qpos[:3] == pytest.approx([0.6, 0.0, 0.5], abs=2e-3)
    assert (stage.controller.machine.outcome, stage.controller.machine.has_failed) == (
        "placed",
        False,
    )
    assert box.qpos[:3] == pytest.approx([1.1, -0.45, 0.335], abs=1e-3)
    assert np.abs(box.qvel).max() < 1e-3
    states = dict.fromkeys(it.transition.start for it in stage.host.supervised.log.since(0))
    assert tuple(states) == ORDER


def test_each_arm_plans_around_the_other_where_it_is(assembly):
    stage = Stage(assembly)
    stage.until("EXEC_PRESENT")
    store, requests = stage.controller.stores["taker"], []
    planner = store.get(ARM).planner

    class Recorder:
        def submit(self, request):
            requests.append(request)
            return planner.submit(request)

    store.get(ARM).planner = Recorder()
    stage.until("EXEC_REACH")
    (request,) = requests
    data = stage.simulation.data
    for joint in ("shoulder_pan_joint", "elbow_joint", "wrist_1_joint", "left_finger_joint"):
        name = f"left_arm/{joint}"
        assert request.scene.joints[name] == pytest.approx(data.joint(name).qpos[0], abs=1e-3)
    assert not any(name.startswith("right_arm/wrist") for name in request.scene.joints)


def test_a_box_that_is_pulled_out_of_the_hand_is_named_and_both_arms_stop(assembly):
    stage = Stage(assembly)
    stage.until("EXEC_PRESENT")
    for _ in range(20):
        stage.host.tick()
    box = stage.simulation.data.joint("box/box_free")
    box.qpos[:3] = (0.3, 0.3, 0.02)
    assert stage.until("FAILED", "RECOVER") == "FAILED"
    event = stage.host.supervised.log.since(0)[-1]
    assert event.transition.label == "slip"
    stage.host.tick()  # the references of the first tick are reached at the second
    stage.host.tick()
    stood = stage.simulation.references.q.copy()
    for _ in range(50):
        stage.host.tick()
    assert np.abs(stage.simulation.references.q - stood).max() < 1e-9
    assert stage.controller.machine.has_failed


def test_a_box_that_is_missing_at_the_grasp_is_named(assembly):
    stage = Stage(assembly)
    stage.until("ADVANCE")
    box = stage.simulation.data.joint("box/box_free")
    box.qpos[:3] = (0.3, 0.3, 0.02)
    assert stage.until("FAILED") == "FAILED"
    event = stage.host.supervised.log.since(0)[-1]
    assert (event.transition.start, event.transition.label) == ("ADVANCE", "object_moved")


def test_settings_of_an_arm_hold_for_that_arm_alone(assembly):
    goal = {"goal": [1.1, -0.45, 0.315, 0.0], "goal_height": "surface"}
    stage = Stage(assembly, {"IDLE/TAKER": {"wrist_sensor": "", **goal}})
    sensors = {name: it.get(ARM).sensor for name, it in stage.controller.stores.items()}
    assert sensors == {"giver": "wrist_ft", "taker": ""}
    tools = {name: it.get(ARM).chain.tool for name, it in stage.controller.stores.items()}
    assert tools == {"giver": "left_arm/grasp", "taker": "right_arm/grasp"}
    stage.until("DONE")
    mass = stage.controller.stores["taker"].get(TASK).metrics["payload"]
    assert mass == pytest.approx(0.15, abs=0.03), "by the efforts of the joints"
    box = stage.simulation.data.joint("box/box_free")
    assert box.qpos[:3] == pytest.approx([1.1, -0.45, 0.335], abs=1e-3), "its lower side"


def test_a_box_that_is_too_heavy_is_refused_or_set_down_again(assembly):
    stage = Stage(assembly, {"IDLE/GIVER": {"mass": 5.0}})
    assert stage.until("FAILED", "PLAN_APPROACH") == "FAILED"
    event = stage.host.supervised.log.since(0)[-1]
    assert event.transition.label == "too_heavy"
    model = copy(assembly.model)
    box = model.body("box/box").id
    heavier = 1.5 / float(model.body_mass[box])
    model.body_mass[box] *= heavier
    model.body_inertia[box] *= heavier
    mujoco.mj_setConst(model, mujoco.MjData(model))
    stage = Stage(replace(assembly, model=model))
    start = stage.simulation.data.joint("box/box_free").qpos[:3].copy()
    stage.until("FAILED")
    events = [it.transition for it in stage.host.supervised.log.since(0)]
    assert [(it.start, it.label) for it in events[-3:]] == [
        ("WEIGH", "too_heavy"),
        ("SET_DOWN", "done"),
        ("LEAVE", "returned"),
    ]
    assert stage.holders() == set()
    end = stage.simulation.data.joint("box/box_free").qpos[:3]
    assert end == pytest.approx(start, abs=2e-3)


def test_a_frozen_pose_of_the_box_is_named(assembly):
    stage = Stage(assembly)
    stage.until("PLAN_REACH")
    time, frozen = stage.simulation.time, stage.simulation.data.joint("box/box_free").qpos.copy()
    pose = Pose(position=frozen[:3], quat_wxyz=frozen[3:])

    def late(observation):
        return Observation.of_several(
            {
                name: replace(it, objects={"box": pose}, object_times={"box": time})
                for name, it in observation.robots.items()
            }
        )

    stage.host.observation_filter = late
    stage.until("FAILED")
    event = stage.host.supervised.log.since(0)[-1]
    assert (event.transition.start, event.transition.label) == ("PLAN_REACH", "pose_stale")


def test_the_same_seed_gives_the_same_bits(assembly):
    tried = trial("handover")
    first, again = (run_episode(tried, assembly, 7, time.process_time) for _ in range(2))
    assert first.success, first.reason
    assert first.digest == again.digest
    assert first.measures == again.measures
    assert first.measures["error_xy"] < 2e-3
    other = run_episode(tried, assembly, 8, time.process_time)
    assert other.success, other.reason
    assert other.digest != first.digest


def test_conditions_follow_the_seed_within_their_ranges(assembly):
    tried = trial("handover", "table")
    drawn = [tried.conditions(seed) for seed in range(50)]
    assert drawn == [tried.conditions(seed) for seed in range(50)]
    assert all(abs(it["start_x"] - 0.1) <= 0.1 and 0.05 <= it["mass"] <= 0.3 for it in drawn)
    model = copy(assembly.model)
    tried.edit(model, drawn[3])
    mujoco.mj_setConst(model, mujoco.MjData(model))
    start = model.qpos0[model.joint("box/box_free").qposadr[0] :][:3]
    assert start == pytest.approx([drawn[3]["start_x"], drawn[3]["start_y"], 0.335])
    assert model.body("box/box").mass[0] == pytest.approx(drawn[3]["mass"])
    with pytest.raises(UserInputError, match=r"mass from 0\.2 to 0\.1 is reversed"):
        Perturbations(mass=(0.2, 0.1))
    with pytest.raises(UserInputError, match="offset must not be negative"):
        Perturbations(offset=-0.1)
