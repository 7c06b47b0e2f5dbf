"""Markers of contacts, and when they are published."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.cameras.ros.contact_markers import ContactMarkers, ContactSource
from mujoco_ros.cameras.ros.frame_parameters import frame_parameters
from mujoco_ros.cameras.ros.source import StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.observer import ContactForces
from mujoco_ros.sim.simulation import Simulation

SCALE = 0.01
ROBOT = (
    '<mujoco><worldbody><body name="base"><freejoint/><geom size=".1"/>'
    '<body name="arm"><joint name="j"/><geom size=".1"/></body></body></worldbody></mujoco>'
)
OBJECT = (
    '<mujoco><worldbody><body name="o"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
)


class World:
    """Two robots and two objects, and the markers that RViz shows."""

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        self.model = model
        self.markers = ContactMarkers(model, layout)
        self.shown: dict[tuple[str, int], Marker] = {}

    def body(self, name: str) -> int:
        return self.model.body(name).id

    def show(self, *contacts: tuple[str, str, float]) -> MarkerArray:
        """Show contacts, each of two bodies with a force along z on the second."""
        bodies = np.array([[self.body(a), self.body(b)] for a, b, _ in contacts], dtype=int)
        bodies = bodies.reshape(-1, 2)
        forces = np.zeros((len(contacts), 3))
        forces[:, 2] = [force for *_, force in contacts]
        points = np.arange(3.0 * len(contacts)).reshape(-1, 3)
        sides = np.hstack([bodies, np.full_like(bodies, -1)])
        found = ContactForces(
            points=points, forces=forces, bodies=bodies, sides=sides, margins=np.ones(len(points))
        )
        message = self.markers.message(found, Time(sec=7), SCALE)
        for marker in message.markers:
            if marker.action == Marker.DELETEALL:
                self.shown.clear()
            elif marker.action == Marker.DELETE:
                del self.shown[marker.ns, marker.id]  # it must be there
            else:
                self.shown[marker.ns, marker.id] = marker
        return message

    def forces(self) -> dict[tuple[str, int], float]:
        """Return the z component of each arrow [N]."""
        return {
            key: (marker.points[1].z - marker.points[0].z) / SCALE
            for key, marker in self.shown.items()
            if marker.type == Marker.ARROW
        }


@pytest.fixture(scope="module")
def make(tmp_path_factory) -> Callable[[], World]:
    folder = tmp_path_factory.mktemp("scene")
    (folder / "robot.xml").write_text(ROBOT)
    (folder / "object.xml").write_text(OBJECT)
    (folder / "scene.yaml").write_text(
        "robots: [{name: ann, model: robot.xml}, {name: bob, model: robot.xml}]\n"
        "objects: [{name: cup, model: object.xml}, {name: box, model: object.xml}]"
    )
    assembly = assemble(load_scene(str(folder / "scene.yaml")))
    layout = lay_out(assembly)
    return lambda: World(assembly.model, layout)


def test_a_force_is_drawn_as_it_acts_on_the_robot_in_the_robots_namespace(make):
    world = make()
    world.show(
        ("world", "ann/base", 1.0),
        ("bob/arm", "box/o", 2.0),  # on the box; the opposite acts on the arm
        ("ann/base", "bob/base", 3.0),  # of two robots, on the first
        ("cup/o", "box/o", 4.0),
        ("bob/base", "bob/arm", 5.0),
    )
    assert world.forces() == pytest.approx(
        {
            ("ann/forces", 0): 1.0,
            ("bob/forces", 1): -2.0,
            ("ann/forces", 2): -3.0,
            ("objects/forces", 3): 4.0,
            ("bob/forces", 4): 5.0,
        }
    )


def test_points_are_one_list_for_each_robot(make):
    world = make()
    world.show(("world", "ann/base", 1.0), ("world", "cup/o", 1.0), ("world", "ann/base", 0.0))
    points = {ns: m.points for (ns, _), m in world.shown.items() if m.type == Marker.SPHERE_LIST}
    assert {ns: [p.x for p in of] for ns, of in points.items()} == {
        "ann/points": [0.0, 6.0],
        "objects/points": [3.0],
    }


def test_an_arrow_keeps_its_id_while_its_contact_lasts(make):
    world = make()
    world.show(("world", "ann/base", 1.0), ("world", "bob/base", 2.0), ("world", "bob/base", 3.0))
    first = world.forces()
    world.show(("world", "cup/o", 9.0), ("world", "bob/base", 2.0), ("world", "bob/base", 3.0))
    second = world.forces()
    bob = {key: value for key, value in first.items() if key[0] == "bob/forces"}
    assert {key: value for key, value in second.items() if key[0] == "bob/forces"} == bob
    assert len(second) == 3
    world.show(("world", "bob/base", 2.0))
    assert len(world.forces()) == 1


def test_markers_of_contacts_that_end_are_deleted_and_no_others(make):
    world = make()
    world.show(("world", "ann/base", 1.0), ("world", "bob/base", 2.0))
    message = world.show(("world", "bob/base", 2.0))
    removed = [(m.ns, m.id) for m in message.markers if m.action == Marker.DELETE]
    assert sorted(removed) == [("ann/forces", 0), ("ann/points", 0)]
    world.show()
    assert not world.shown
    assert not world.show().markers


def test_the_arrow_of_a_contact_that_changes_its_owner_is_deleted(make):
    world = make()
    world.show(("world", "ann/base", 1.0))
    world.show(("world", "cup/o", 1.0))
    assert set(world.shown) == {("objects/forces", 0), ("objects/points", 0)}


def test_a_very_small_force_has_a_point_and_no_arrow(make):
    world = make()
    world.show(("world", "ann/base", 0.05))
    assert set(world.shown) == {("ann/points", 0)}


def test_the_first_message_deletes_the_markers_of_an_earlier_process(make):
    world = make()
    actions = [marker.action for marker in world.show(("world", "ann/base", 1.0)).markers]
    assert actions == [Marker.DELETEALL, Marker.ADD, Marker.ADD]


def test_markers_are_in_the_world_at_the_time_of_the_state(make):
    message = make().show(("world", "ann/base", 1.0))
    assert {m.header.frame_id for m in message.markers} == {"world"}
    assert {m.header.stamp.sec for m in message.markers} == {7}


class Opened:
    """A publisher that records its messages."""

    def __init__(self) -> None:
        self.messages: list[MarkerArray] = []
        self.opened: list[tuple[type, str]] = []
        self.subscriptions = 1

    def open(self, kind: type, topic: str, _qos: Any) -> Any:
        self.opened.append((kind, topic))
        return self

    def send(self, message: MarkerArray) -> None:
        self.messages.append(message)

    def force(self) -> np.ndarray:
        """Return the sum of all arrows of the last message [m]."""
        added = [m for m in self.messages[-1].markers if m.action == Marker.ADD]
        arrows = [marker for marker in added if marker.type == Marker.ARROW]
        ends = [[(p.x, p.y, p.z) for p in arrow.points] for arrow in arrows]
        return np.diff(np.array(ends), axis=1).sum(axis=(0, 1))


@pytest.fixture(scope="module")
def standing() -> Simulation:
    simulation = Simulation(load_scene("humanoid"))
    for _ in range(500):
        simulation.step()
    return simulation


@pytest.fixture
def taken(standing) -> tuple[Opened, ContactSource, StateSnapshot]:
    """The contacts of a standing humanoid, of which a reader has the integration state."""
    model, layout = standing.model, standing.layout
    data = mujoco.MjData(model)
    state = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_copyState(model, standing.data, data, state)
    mujoco.mj_kinematics(model, data)
    opened = Opened()
    snapshot = StateSnapshot(model=model, data=data, layout=layout, time=1.0, stamp=Time(sec=1))
    return opened, ContactSource(model, layout, opened), snapshot


def test_the_forces_on_a_standing_robot_sum_to_its_weight(standing, taken):
    opened, contacts, snapshot = taken
    contacts.publish(snapshot)
    weight = standing.model.body_mass.sum() * 9.81
    np.testing.assert_allclose(opened.force() / 0.002, [0, 0, weight], atol=0.03 * weight)
    assert opened.opened == [(MarkerArray, "contacts")]
    assert contacts.counts["markers"] == 1


def test_the_state_of_the_other_sources_does_not_change(taken):
    _, contacts, snapshot = taken
    before = snapshot.data.qacc.copy()
    contacts.publish(snapshot)
    np.testing.assert_array_equal(snapshot.data.qacc, before)
    assert snapshot.data.ncon == 0


def test_the_length_of_arrows_and_the_rate_are_parameters(taken):
    opened, contacts, snapshot = taken
    specs = {spec.name: spec.default for spec in frame_parameters(snapshot.layout)}
    assert (specs["contacts.rate"], specs["contacts.force_scale"]) == (20.0, 0.002)
    contacts.publish(snapshot)
    before = opened.force()
    contacts.set_parameters({"contacts.force_scale": 0.004, "contacts.rate": 5.0})
    contacts.publish(snapshot)
    np.testing.assert_allclose(opened.force(), 2 * before, atol=1e-9)
    assert contacts.schedule.rate == 5
