"""Contact groups, a conveyor belt, a suction cup and the quality of a grasp."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from belt_scene import write_belt_scene
from extension_runs import ExtensionRun
from std_srvs.srv import SetBool, Trigger

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.settings.element_properties import Property, get_property
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import Keyframes


def test_only_balls_of_the_group_fall_through_until_the_group_changes() -> None:
    run = ExtensionRun("contact_groups")
    height = {
        name: run.data.body(f"balls/{name}").xpos for name in ("one_a", "one_b", "two_a", "two_b")
    }
    run.step(1.0)
    assert [height[name][2] < 0.2 for name in height] == [True, True, False, False]
    assert height["one_a"][2] == pytest.approx(0.05, abs=0.005), "on the ground"
    (runner,) = run.set.runners
    runner.change_settings(replace(runner.settings, other=-1))
    run.step(1.0)
    assert max(it[2] for it in height.values()) < 0.2
    run.simulation.reset()
    runner.enable(enabled=False)
    run.step(1.0)
    assert min(it[2] for it in height.values()) > 0.5
    run.close()


BELT = """
extensions:
  - {use: conveyor_belt, name: belt, robot: line, settings: {speed: 0.5, acceleration: 2.0}}
"""


class Line:
    """The belt with the box."""

    def __init__(self, folder: Path) -> None:
        self.simulation = Simulation(read_scene(write_belt_scene(folder, BELT)))
        self.set = ExtensionSet(self.simulation)

    def run(self, seconds: float) -> tuple[float, float]:
        """Return the position [m] and velocity [m/s] of the box along the belt."""
        for _ in range(round(seconds / 0.002)):
            self.set.before_step()
            assert self.simulation.step()
        box = self.simulation.data.body("box/box")
        return float(box.xpos[0]), float(self.simulation.data.qvel[1])


def test_a_box_moves_with_the_belt_and_stops_with_it(tmp_path: Path) -> None:
    line = Line(tmp_path)
    (runner,) = line.set.runners
    start, _ = line.run(1.0)
    position, speed = line.run(2.0)
    assert speed == pytest.approx(0.5, abs=0.005)
    assert position - start == pytest.approx(1.0, rel=0.02)
    # A ramp of 0.25 s to 0.5 m/s, and then 2.75 s.
    assert runner.extension.state["distance"][0] == pytest.approx(0.0625 + 1.375, abs=0.003)
    assert abs(line.simulation.data.qpos[0]) < 0.002, "the belt stays in place"
    response = SetBool.Response()
    runner.extension.run(SetBool.Request(data=False), response)
    assert (response.success, response.message) == (True, "stopped")
    stopped, _ = line.run(1.0)
    last, speed = line.run(1.0)
    assert abs(speed) < 1e-3
    assert last - stopped == pytest.approx(0.0, abs=0.002)
    line.simulation.reset()
    assert runner.extension.state["distance"][0] == 0.0
    assert line.run(1.0)[0] == pytest.approx(start, abs=1e-9), "a reset starts it again"


def test_a_belt_that_is_disabled_stops(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.run(1.0)
    line.set.runners[0].enable(enabled=False)
    place = float(line.simulation.data.qpos[0])
    _, speed = line.run(1.0)
    assert abs(speed) < 1e-3
    assert line.simulation.data.qpos[0] == pytest.approx(place, abs=0.05)


def test_a_belt_without_its_joint_is_named(tmp_path: Path) -> None:
    path = write_belt_scene(tmp_path, BELT.replace("acceleration: 2.0", "joint: band"))
    with pytest.raises(
        ValueError, match=r"extension 'line/belt': .*joint 'band' not found; there are: belt"
    ):
        ExtensionSet(Simulation(read_scene(path)))


STONE = """<mujoco model="stone"><worldbody><body name="stone"><freejoint/><geom size=".05"/></body>
</worldbody></mujoco>"""
DOWN, UP = 0.7, 0.2


class Gantry(ExtensionRun):
    """The gantry with the parcel."""

    def height(self) -> float:
        """Return the height of the centre of the parcel [m]."""
        return float(self.data.body("parcel/parcel").xpos[2])

    def grip(self, on: bool) -> str:
        """Call the service, and return its message."""
        response = SetBool.Response()
        self.extension().grip(SetBool.Request(data=on), response)
        assert response.success
        return str(response.message)

    def move(self, along: float, down: float) -> None:
        """Move the cup to a place, at a constant speed."""
        first = self.simulation.references.q[:2].copy()
        for share in np.linspace(0.0, 1.0, 50):
            self.command(*(first + share * (np.array([along, down]) - first)))
            self.step(0.03)

    def pull(self, force: float) -> None:
        """Pull the parcel down with a force that grows slowly [N]."""
        for share in np.linspace(0.0, 1.0, 50):
            self.data.body("parcel/parcel").xfrc_applied[2] = -share * force
            self.step(0.02)

    def lift(self) -> None:
        """Lower the cup with vacuum, and lift the parcel."""
        assert self.grip(True) == "on"
        self.move(0.0, DOWN)
        assert self.extension().state["held"][0]
        self.move(0.0, UP)


@pytest.fixture
def gantry() -> Iterator[Gantry]:
    run = Gantry("suction_cup")
    yield run
    run.close()


def test_a_parcel_is_lifted_and_released(gantry: Gantry) -> None:
    gantry.move(0.0, DOWN)
    gantry.move(0.0, UP)
    assert gantry.height() == pytest.approx(0.06, abs=0.005), "without vacuum"
    gantry.lift()
    assert gantry.height() == pytest.approx(0.56, abs=0.03)
    gantry.move(0.5, UP)
    assert gantry.data.body("parcel/parcel").xpos[0] == pytest.approx(0.1, abs=0.02)
    assert gantry.grip(False) == "off"
    gantry.step(1.0)
    assert gantry.height() == pytest.approx(0.06, abs=0.005)


def test_a_force_beyond_the_break_force_pulls_the_parcel_off(gantry: Gantry) -> None:
    gantry.lift()
    weight = 9.81 * float(gantry.simulation.model.body("parcel/parcel").mass[0])
    gantry.pull(60.0 - weight - 3.0)
    assert gantry.extension().state["held"][0]
    gantry.pull(60.0 - weight + 3.0)
    assert not gantry.extension().state["held"][0]
    gantry.step(0.5)
    assert gantry.height() < 0.2


def test_what_it_holds_survives_spawning_deleting_and_keyframes(gantry: Gantry) -> None:
    keyframes = Keyframes(gantry.simulation)
    keyframes.save("on the ground")
    gantry.change(add=[part_from_text(STONE, name="stone")])
    gantry.lift()
    high = gantry.height()
    keyframes.save("held")
    gantry.change(remove=["stone"])
    gantry.step(0.5)
    assert gantry.height() == pytest.approx(high, abs=0.01)
    keyframes.load("on the ground")
    gantry.step(0.5)
    assert gantry.height() == pytest.approx(0.06, abs=0.005)
    assert not gantry.data.eq_active.any()
    keyframes.load("held")
    gantry.step(0.5)
    assert gantry.height() == pytest.approx(high, abs=0.01)
    gantry.change(remove=["parcel"])
    gantry.step(0.2)
    assert not gantry.data.eq_active.any(), "what it held is gone"
    assert np.isfinite(gantry.data.qpos).all()


def test_it_holds_while_constants_of_the_model_are_derived_again(gantry: Gantry) -> None:
    gantry.lift()
    high = gantry.height()
    part = Property("body", "parcel/parcel", "mass")
    gantry.simulation.properties.set({part: get_property(gantry.simulation.model, part)})
    gantry.step(0.2)
    assert gantry.height() == pytest.approx(high, abs=0.01)


def test_a_cup_that_is_disabled_releases_the_body(gantry: Gantry) -> None:
    gantry.lift()
    keyframes = Keyframes(gantry.simulation)
    keyframes.save("lifted")
    (runner,) = gantry.set.runners
    runner.enable(enabled=False)
    gantry.step(1.0)
    assert gantry.height() == pytest.approx(0.06, abs=0.005)
    keyframes.load("lifted")
    gantry.step(1.0)
    assert gantry.height() == pytest.approx(0.06, abs=0.005)
    runner.enable(enabled=True)
    gantry.lift()


def test_of_two_bodies_that_touch_at_once_the_closest_is_held(gantry: Gantry) -> None:
    for name in ("first", "second"):
        gantry.change(add=[part_from_text(STONE.replace(".05", ".01"), name=name)])
    model, below = gantry.simulation.model, 0.2
    for closest in ("first", "second"):
        cup = gantry.data.body("gantry/cup").xpos
        for name, side in (("first", -1.0), ("second", 1.0)):
            depth = 0.004 if name == closest else 0.001
            at = model.jnt_qposadr[model.body(f"{name}/stone").jntadr[0]]
            gantry.data.qpos[at : at + 3] = cup + np.array([side * 0.02, 0.0, depth - below])
        gantry.step(0.002)
        gantry.grip(True)
        gantry.step(0.002)
        (weld,) = gantry.data.eq_active.nonzero()[0]
        assert model.body(model.eq_obj2id[weld]).name == f"{closest}/stone"
        gantry.grip(False)


def test_the_quality_of_a_grasp_is_that_of_its_contacts() -> None:
    run = ExtensionRun("grasp_quality")
    quality, response = run.extension(), Trigger.Response()
    run.step(0.01)
    assert np.isnan(quality.margin()), "the box stands on the table"
    quality.closure(Trigger.Request(), response)
    assert not response.success
    assert response.message == "0 contacts: no force closure, no form closure"
    data, model = run.data, run.simulation.model
    address = model.jnt_qposadr[model.body("box/box").jntadr[0]]
    data.qpos[address : address + 3] = data.site("arm/grasp").xpos
    data.qpos[address + 3 : address + 7] = 1.0, 0.0, 0.0, 0.0
    gripper = run.simulation.joints.names.index("arm/left_finger_joint")
    run.simulation.references.q[gripper] = 0.0
    run.step(0.6)
    assert data.body("box/box").xpos[2] > 0.4, "the box is in the hand"
    assert 0.3 < quality.published_margin().data < 1.0
    quality.closure(Trigger.Request(), response)
    assert response.success
    assert ": force closure 0." in response.message
    (runner,) = run.set.runners
    runner.change_settings(replace(runner.settings, object="table"))
    assert np.isnan(quality.margin())
    runner.change_settings(replace(runner.settings, object="tray"))
    assert "robot or object 'tray' not found; there are: arm, table, box" in str(runner.failure)
    run.close()
