"""The panel of a recorder of datasets."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.recording.ros.dataset_panel import DatasetPanel
from mujoco_ros.viewer.panel_descriptions import panel_info, table_rows


class FakeNode:
    """Keeps what is published, by topic."""

    def __init__(self):
        self.published = {}

    def get_fully_qualified_name(self):
        return "/record"

    def create_publisher(self, _kind, topic, _qos):
        sent = self.published[topic.replace("~", "/record")] = []
        return SimpleNamespace(publish=lambda message: sent.append(message.data))


def test_only_what_makes_sense_is_offered():
    node = FakeNode()
    panel = DatasetPanel(node)
    panel.update(is_recording=False, progress="0 episodes", now=1.0)
    panel.update(is_recording=False, progress="0 episodes", now=1.1)
    panel.update(is_recording=True, progress="0 episodes; recording: 30 frames, 1.0 s", now=2.0)
    before, during = map(panel_info, node.published["/record/panel"])
    offered = [
        {item.label: item.service for item in info.groups[0].items if item.kind == "button"}
        for info in (before, during)
    ]
    assert offered[0] == {"Record": "/record/start_episode"}
    assert offered[1] == {"Keep": "/record/end_episode", "Discard": "/record/discard_episode"}
    (value,) = (item for item in during.groups[0].items if item.kind == "value")
    shown = [table_rows(text)[0][0] for text in node.published[value.topic]]
    assert shown == ["0 episodes", "0 episodes; recording: 30 frames, 1.0 s"]
    assert json.loads(node.published["/record/panel"][0])["title"] == "Dataset"
