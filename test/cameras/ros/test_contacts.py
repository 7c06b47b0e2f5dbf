from typing import Any

import mujoco
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.cameras.ros.contact_markers import ContactSource
from mujoco_ros.cameras.ros.source import StateSnapshot
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


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
    assert {spec.name: spec.default for spec in contacts.specs()} == {
        "contacts.rate": 20.0,
        "contacts.force_scale": 0.002,
    }
    contacts.publish(snapshot)
    before = opened.force()
    contacts.set_parameters({"contacts.force_scale": 0.004, "contacts.rate": 5.0})
    contacts.publish(snapshot)
    np.testing.assert_allclose(opened.force(), 2 * before, atol=1e-9)
    assert contacts.schedule.rate == 5
