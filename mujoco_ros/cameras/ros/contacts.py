"""The topic `contacts`: contact points and forces as markers."""

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
from visualization_msgs.msg import MarkerArray

from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.cameras.ros.contact_markers import ContactMarkers
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.contact_forces import contact_forces
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE

_TOPIC = "contacts"
_RATE_HZ = 20.0
_DEFAULT_SCALE = 0.002
_FORCE_SCALE = ParameterSpec(
    name=f"{_TOPIC}.force_scale",
    default=_DEFAULT_SCALE,
    description="Length of the arrow of a contact force for each newton [m/N]",
    low=0.0,
    high=1000.0,
)
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""The input of the constraint solver, with its warm start."""


class ContactSource(FrameSource):
    """Publishes the contacts of a state as markers."""

    products = ("markers",)

    def __init__(
        self, model: mujoco.MjModel, layout: ModelLayout, publishers: PublisherPool
    ) -> None:
        """Open the topic."""
        self._publisher = publishers.open(MarkerArray, _TOPIC, RELIABLE)
        super().__init__(_TOPIC, _RATE_HZ, [self._publisher])
        self._force_scale = _DEFAULT_SCALE
        self._markers = ContactMarkers(model, layout)
        self._data = mujoco.MjData(model)

    def specs(self) -> Sequence[ParameterSpec]:
        """Return the parameters."""
        return (*super().specs(), _FORCE_SCALE)

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the parameters among `values`."""
        super().set_parameters(values)
        scale = values.get(_FORCE_SCALE.name, self._force_scale)
        if scale != self._force_scale:
            self._force_scale = scale
            self.repeat()

    def publish(self, snapshot: StateSnapshot) -> None:
        """Solve for the contact forces and publish them."""
        data = self._data
        mujoco.mj_copyState(snapshot.model, snapshot.data, data, _STATE)
        # Sensors are computed last and not needed.
        mujoco.mj_forwardSkip(snapshot.model, data, int(mujoco.mjtStage.mjSTAGE_NONE), 1)
        contacts = contact_forces(snapshot.model, data)
        self._publisher.send(self._markers.message(contacts, snapshot.stamp, self._force_scale))
        self.counts["markers"] += 1
