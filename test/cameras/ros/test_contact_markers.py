from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.cameras.ros.contact_markers import ContactMarkers
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.observer import ContactForces

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
        found = ContactForces(points=points, forces=forces, bodies=bodies, sides=sides)
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
