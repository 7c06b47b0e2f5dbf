"""A pulled body of any mass reaches its goal and stays there."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.sim.wrenches import AppliedWrench, ExternalWrenches

W, W_TURNING = 10.0, np.sqrt(500.0)
"""MuJoCo's defaults: ``visual/map/stiffness`` is 100, and ``stiffnessrot`` 500."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
CORNER = np.array([0.3, 0.1, 0.05])
FREE = """<freejoint/><geom type="box" size="0.3 0.1 0.05" mass="{mass}"/>"""
HINGED = """<joint axis="0 0 1" armature="{armature}"/>
  <geom type="capsule" fromto="0 0 0 1 0 0" size="0.03" mass="{mass}"/>"""
HELD = """<freejoint/><geom type="box" size="0.1 0.1 0.1" pos="0.05 0 0.02" mass="{mass}"/>"""


class Pulled:
    """A body and its pull; `at` is the position of the pulled point."""

    def __init__(
        self,
        body: str = FREE,
        *,
        mass: float = 2.0,
        step_s: float = 0.001,
        gravity: float = 0.0,
        stiffness: float = W**2,
    ) -> None:
        self.model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <visual><map stiffness="{stiffness}"/></visual>
          <option timestep="{step_s}" gravity="0 0 {-gravity}" integrator="implicitfast"/>
          <worldbody>
            <body name="first" pos="9 9 9"><freejoint/><geom size="0.1"/></body>
            <body name="it" pos="0 0 1" quat="0.8 0 0 0.6">
              {body.format(mass=mass, armature=mass / 100)}
            </body>
          </worldbody>
        </mujoco>""")
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.wrenches = ExternalWrenches(self.model, self.data)
        self.body = self.model.body("it").id
        self.place = BodyFrame(
            frame="it", owner="it", body=self.body, position=np.zeros(3), quat_wxyz=UPRIGHT
        )
        self.point = np.zeros(3)

    @property
    def axes(self) -> np.ndarray:
        return self.data.xmat[self.body].reshape(3, 3)

    @property
    def at(self) -> np.ndarray:
        return np.array(self.data.xpos[self.body] + self.axes @ self.point)

    @property
    def applied(self) -> np.ndarray:
        return self.data.xfrc_applied[self.body]

    def pull(self, way: np.ndarray, point: np.ndarray = UPRIGHT[1:]) -> np.ndarray:
        """Pull a point so far; return where to."""
        self.point = point
        position = self.at + way
        self.wrenches.pull(
            self.place, Pull(turns=False, point=point, position=position, quat_wxyz=UPRIGHT)
        )
        return position

    def turn(self, quat_wxyz: np.ndarray) -> None:
        self.wrenches.pull(
            self.place,
            Pull(turns=True, point=np.zeros(3), position=np.zeros(3), quat_wxyz=quat_wxyz),
        )

    def step(self, seconds: float) -> None:
        for _ in range(round(seconds / self.model.opt.timestep)):
            if self.wrenches.acting:
                self.wrenches.apply(self.data.time)
            mujoco.mj_step(self.model, self.data)
        mujoco.mj_kinematics(self.model, self.data)

    def missing(self, quat_wxyz: np.ndarray) -> np.ndarray:
        """Return the turn that is missing to an orientation, as a rotation vector."""
        back, quat, turn = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(back, self.data.xquat[self.body])
        mujoco.mju_mulQuat(quat, quat_wxyz, back)
        mujoco.mju_quat2Vel(turn, quat, 1.0)
        return turn


@pytest.mark.parametrize("step_s", [0.001, 0.005])
@pytest.mark.parametrize("mass", [0.05, 1.0, 50.0])
def test_a_free_body_moves_like_on_a_critically_damped_spring(mass: float, step_s: float) -> None:
    it, way = Pulled(mass=mass, step_s=step_s), np.array([0.3, -0.1, 0.2])
    goal = it.pull(way)
    for seconds in np.arange(1, 16) * 0.1:
        it.step(0.1)
        left = (1.0 + W * seconds) * np.exp(-W * seconds)
        assert goal - it.at == pytest.approx(left * way, abs=0.03 * np.linalg.norm(way))
        assert (goal - it.at) @ way >= -1e-6, "it went past the goal"
    assert it.at == pytest.approx(goal, abs=1e-4)


@pytest.mark.parametrize(("mass", "step_s"), [(0.05, 0.001), (0.05, 0.005), (50.0, 0.005)])
@pytest.mark.parametrize(
    ("body", "point", "way", "past"),
    [
        (FREE, CORNER, (0.2, 0.1, 0.3), 0.05),
        (HELD, CORNER, (-0.2, 0.2, 0.1), 0.05),
        (HINGED, np.array([1.0, 0.0, 0.0]), (np.cos(0.4) - 1.0, np.sin(0.4), 0.0), 0.001),
    ],
)
def test_a_corner_and_the_end_of_a_link_reach_the_goal_with_little_overshoot(
    body: str,
    point: np.ndarray,
    way: tuple[float, float, float],
    past: float,
    mass: float,
    step_s: float,
) -> None:
    it = Pulled(body, mass=mass, step_s=step_s)
    way, far, farthest = it.axes @ way, np.linalg.norm(way), 0.0
    goal = it.pull(way, point)
    for _ in range(100):
        it.step(0.04)
        farthest = max(farthest, float((it.at - goal) @ way / far))
    assert np.linalg.norm(it.at - goal) < 0.02 * far
    assert farthest < past * far
    assert np.linalg.norm(it.data.qvel) < 0.1, "it turns still"


@pytest.mark.parametrize(("mass", "point"), [(0.05, np.zeros(3)), (50.0, CORNER)])
def test_a_hanging_body_is_below_the_goal_by_the_deflection_of_the_spring(
    mass: float, point: np.ndarray
) -> None:
    it = Pulled(mass=mass, gravity=9.81, step_s=0.005)
    goal = it.pull(np.array([0.0, 0.0, 0.5]), point)
    it.step(8.0)
    assert goal - it.at == pytest.approx([0.0, 0.0, 9.81 / W**2], abs=0.01)


@pytest.mark.parametrize(("mass", "step_s"), [(0.05, 0.001), (50.0, 0.005)])
@pytest.mark.parametrize(("body", "axis"), [(FREE, (0.6, 0.0, 0.8)), (HINGED, (0.0, 0.0, 1.0))])
def test_a_body_is_rotated_without_overshoot(
    body: str, axis: tuple[float, float, float], mass: float, step_s: float
) -> None:
    it, turn, goal = Pulled(body, mass=mass, step_s=step_s), np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.array(axis), 1.5)
    mujoco.mju_mulQuat(goal, turn, it.data.xquat[it.body])
    it.turn(goal)
    for _ in range(50):
        it.step(0.02)
        assert it.missing(goal) @ axis > -0.02
    assert np.linalg.norm(it.missing(goal)) < 1e-3
    assert it.data.xpos[it.body] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


def test_a_frame_on_a_body_is_pulled_and_rotated_about_its_own_axes() -> None:
    it = Pulled(step_s=0.005)
    on_its_side = np.array([0.6, 0.8, 0.0, 0.0])
    it.place = replace(it.place, position=np.array([0.1, 0.0, 0.0]), quat_wxyz=on_its_side)
    it.turn(UPRIGHT)
    it.step(2.0)
    assert it.data.xquat[it.body] == pytest.approx([0.6, -0.8, 0.0, 0.0], abs=1e-3)
    goal = np.array([0.5, 0.5, 2.0])
    pull = Pull(turns=False, point=np.array([0.0, 0.0, 0.3]), position=goal, quat_wxyz=UPRIGHT)
    it.wrenches.pull(it.place, pull)
    it.step(6.0)
    tip = np.zeros(3)
    mujoco.mju_rotVecQuat(tip, np.array([0.0, 0.0, 0.3]), on_its_side)
    tip = it.data.xpos[it.body] + it.axes @ (it.place.position + tip)
    assert tip == pytest.approx(goal, abs=0.01)


@pytest.mark.parametrize("step_s", [0.001, 0.02])
def test_no_stiffness_of_a_model_makes_a_pull_unstable(step_s: float) -> None:
    it = Pulled(step_s=step_s, stiffness=1e8)
    goal = it.pull(np.array([0.1, 0.2, 0.0]), CORNER)
    it.step(2.0)
    assert it.at == pytest.approx(goal, abs=0.01)


def test_a_goal_a_million_kilometres_away_pulls_as_one_ten_metres_away() -> None:
    forces = []
    for far in (10.0, 1e9):
        it = Pulled(stiffness=1e8)
        it.pull(np.array([far, 0.0, 0.0]))
        it.step(it.model.opt.timestep)
        forces.append(it.applied[:3].copy())
        it.step(2.0)
        assert not it.data.warning.number.any()
    assert forces[0][0] > 1e5
    assert forces[0] == pytest.approx(forces[1])


def test_the_force_on_a_body_held_by_joints_is_at_most_that_on_a_free_one() -> None:
    it = Pulled(HINGED, mass=3.0)
    it.pull(np.array([0.0, 0.0, 0.4]), np.array([0.001, 0.0, 0.0]))  # along the hinge, close to it
    it.wrenches.apply(0.0)
    assert it.applied[:3] == pytest.approx([0.0, 0.0, 3.0 * W**2 * 0.4], rel=1e-3)
    it.step(1.0)
    assert np.abs(it.data.qvel).max() < 1e-6


def test_a_goal_is_reached_without_further_messages() -> None:
    it = Pulled(gravity=9.81, step_s=0.005)
    goal = it.pull(np.array([0.0, 0.0, 0.5]))
    heights = []
    for _ in range(150):
        it.step(0.02)
        heights.append(it.at[2])
    assert max(heights) < goal[2]
    assert np.ptp(heights[-50:]) < 1e-4


def test_a_pull_and_a_wrench_at_one_frame_add_up_and_end_one_by_one() -> None:
    it = Pulled()
    it.wrenches.put(
        it.place, AppliedWrench(force=(5.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), in_world=True)
    )
    it.pull(np.array([0.1, 0.0, 0.0]))
    it.wrenches.apply(0.0)
    assert it.applied[0] == pytest.approx(5.0 + 2.0 * W**2 * 0.1)
    assert list(it.wrenches.pulls) == list(it.wrenches.listing) == ["it"]
    it.wrenches.release("it")
    assert not it.wrenches.pulls
    it.wrenches.apply(0.0)
    assert it.applied[:3] == pytest.approx([5.0, 0.0, 0.0])
    it.wrenches.clear()
    assert not it.wrenches.acting
    it.pull(np.array([0.1, 0.0, 0.0]))
    it.wrenches.apply(0.0)
    it.wrenches.release("it")
    it.wrenches.release("it")
    assert not it.wrenches.acting
    assert not it.data.xfrc_applied.any()


def test_a_pull_is_neither_saved_nor_transferred_to_another_model() -> None:
    it = Pulled()
    it.pull(np.ones(3))
    assert it.wrenches.save_state() == ((), ())
    other = Pulled()
    it.wrenches.switch_model(other.model, other.data)
    assert not it.wrenches.acting
    it.wrenches.pull(replace(it.place, owner="gone"), _PULL)
    assert not it.wrenches.acting
    it.wrenches.pull(replace(it.place, body=1), _PULL)
    it.wrenches.apply(0.0)
    assert np.flatnonzero(other.data.xfrc_applied.any(axis=1)).tolist() == [other.body]


_PULL = Pull(turns=False, point=np.zeros(3), position=np.ones(3), quat_wxyz=UPRIGHT)
