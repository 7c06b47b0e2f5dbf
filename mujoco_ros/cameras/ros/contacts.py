"""The topic `contacts`: where bodies touch, and with which force."""

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
from visualization_msgs.msg import MarkerArray

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.cameras.ros.contact_markers import ContactMarkers
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.contact_forces import contact_forces

_TOPIC = "contacts"
_RATE_HZ = 20.0
_FORCE_SCALE = ParameterSpec(
    name=f"{_TOPIC}.force_scale",
    default=0.002,
    description="Length of the arrow of a contact force for each newton [m/N]",
    low=0.0,
    high=1000.0,
)
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""All that the forces follow from, the solver's warm start included."""


class Contacts(FrameSource):
    """Publishes the contacts of a model's states as markers."""

    computes = ("markers",)

    def __init__(
        self, model: mujoco.MjModel, layout: ModelLayout, publishers: PublisherPool
    ) -> None:
        """Prepare for the states of `model`."""
        self._publisher = publishers.open(MarkerArray, _TOPIC, RELIABLE)
        super().__init__(_TOPIC, _RATE_HZ, [self._publisher])
        self._force_scale = float(_FORCE_SCALE.default)  # type: ignore[arg-type]
        self._markers = ContactMarkers(model, layout)
        self._data = mujoco.MjData(model)

    def specs(self) -> Sequence[ParameterSpec]:
        """Return its parameters."""
        return (*super().specs(), _FORCE_SCALE)

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over those of its parameters that are among `values`."""
        super().change(values)
        scale = values.get(_FORCE_SCALE.name)
        if scale is not None and scale != self._force_scale:
            self._force_scale = scale
            self.repeat()

    def take(self, moment: StateSnapshot) -> None:
        """Solve for the forces, and publish them."""
        data = self._data
        mujoco.mj_copyState(moment.model, moment.data, data, _STATE)
        # The forces need no sensors, which come last.
        mujoco.mj_forwardSkip(moment.model, data, int(mujoco.mjtStage.mjSTAGE_NONE), 1)
        found = contact_forces(moment.model, data)
        self._publisher.send(self._markers.message(found, moment.stamp, self._force_scale))
        self.counts["markers"] += 1
