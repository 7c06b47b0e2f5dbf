"""The panel of a recorder of datasets, which the viewer's page shows while the recorder runs."""

import json
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from mujoco_ros.wire.names import PANEL
from mujoco_ros.wire.qos import LATCHED, RELIABLE

_PERIOD_S = 0.5  # of messages with the progress
_START = {"Record": "start"}
_STOP = {"Keep": "end", "Discard": "discard"}
"""Services ``~/<name>_episode`` by the labels of their buttons."""
_TIPS = {
    "Record": "Start an episode",
    "Keep": "End the episode, which becomes part of the dataset",
    "Discard": "End the episode, and delete it",
}


class DatasetPanel:
    """Offers the services that make sense, and shows what is recorded."""

    def __init__(self, node: Node) -> None:
        """Publish in the namespace of a node, which serves ``start_episode`` and others."""
        self._name = node.get_fully_qualified_name()
        self._description = node.create_publisher(String, f"~/{PANEL}", LATCHED)
        self._progress = node.create_publisher(String, f"~/{PANEL}/progress", RELIABLE)
        self._was_recording: bool | None = None
        self._due = 0.0

    def update(self, *, is_recording: bool, progress: str, now: float) -> None:
        """Publish which buttons there are if that has changed, and the progress when due [s]."""
        if is_recording is not self._was_recording:
            self._was_recording = is_recording
            self._publish(self._description, self._describe(_STOP if is_recording else _START))
        if now >= self._due:
            self._due = now + _PERIOD_S
            self._publish(self._progress, [[progress]])

    def _describe(self, buttons: dict[str, str]) -> dict[str, Any]:
        items: list[dict[str, Any]] = [
            {
                "kind": "button",
                "label": label,
                "tip": _TIPS[label],
                "service": f"{self._name}/{action}_episode",
            }
            for label, action in buttons.items()
        ]
        topic = f"{self._name}/{PANEL}/progress"
        items.append({"kind": "value", "label": "Recorded", "topic": topic})
        groups = [{"name": "", "items": items}]
        return {"title": "Dataset", "node": self._name, "groups": groups}

    @staticmethod
    def _publish(publisher: Any, content: Any) -> None:
        publisher.publish(String(data=json.dumps(content)))
