"""The suction cup lifts what touches it, releases it, and is pulled off."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun
from std_srvs.srv import SetBool

from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.state.snapshots import Keyframes

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
