from typing import Any

import pytest
import yaml

from mujoco_ros.bridge.tf.rviz_config import KINDS, displayable_topics, filled
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene

TEMPLATE = share_directory() / "config" / "rviz" / "mujoco_ros.rviz"

Config = dict[str, Any]


def layout_of(scene: str) -> ModelLayout:
    return lay_out(assemble(load_scene(scene)))


@pytest.fixture(scope="module")
def template() -> Config:
    return yaml.safe_load(TEMPLATE.read_text())


@pytest.fixture(scope="module")
def humanoid() -> ModelLayout:
    return layout_of("humanoid")


@pytest.fixture(scope="module")
def zoo() -> ModelLayout:
    return layout_of("zoo")


def displays_of(config: Config) -> list[Config]:
    return config["Visualization Manager"]["Displays"]


def by_topic(displays: list[Config]) -> dict[str, Config]:
    """Return displays by the topic they show."""
    found = {}
    for display in displays:
        topic = display.get("Topic") or display.get("Description Topic") or {}
        if "Value" in topic:
            found[topic["Value"]] = display
    return found


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for entry in value.values() for text in strings(entry)]
    if isinstance(value, list):
        return [text for entry in value for text in strings(entry)]
    return [value] if isinstance(value, str) else []


def test_all_topics_of_a_single_robot_are_displayed(template, humanoid):
    displays = displays_of(filled(template, humanoid))
    assert set(by_topic(displays)) == {
        "/robot_description",
        "/odom",
        "/contacts",
        "/wrench/left_ankle_ft",
        "/wrench/right_ankle_ft",
        "/wrench/left_wrist_ft",
        "/wrench/right_wrist_ft",
        "/camera/head_camera/image_raw",
        "/camera/head_camera/depth/points",
    }
    classes = {display["Class"].rpartition("/")[2] for display in displays}
    assert {"Grid", "TF", "RobotModel", "Odometry", "Wrench", "MarkerArray", "Image"} <= classes


@pytest.mark.parametrize("scene", ["humanoid", "zoo"])
def test_no_placeholder_is_left(template, scene, request):
    config = filled(template, request.getfixturevalue(scene))
    left = [text for text in strings(config) if "{" in text]
    assert not left


def test_all_displays_are_enabled_but_only_one_of_many_cameras(template, zoo):
    displays = displays_of(filled(template, zoo))
    groups = [display for display in displays if display["Class"] == "rviz_common/Group"]
    assert [group["Name"] for group in groups] == ["humanoid", "quadruped", "left_arm", "right_arm"]
    every = [display for group in groups for display in group["Displays"]]
    assert all(display["Enabled"] == display["Value"] for display in every)
    off = {topic for topic, display in by_topic(every).items() if not display["Enabled"]}
    assert off == {
        f"/{camera}/{topic}"
        for camera in (
            "quadruped/camera/front_camera",
            "left_arm/camera/wrist_camera",
            "right_arm/camera/wrist_camera",
        )
        for topic in ("image_raw", "depth/points")
    }


def test_robots_have_their_tf_prefix_in_the_form_of_rviz(template, zoo):
    config = filled(template, zoo)
    every = [d for group in displays_of(config) for d in group.get("Displays", [])]
    models = [d for d in every if d["Class"] == "rviz_default_plugins/RobotModel"]
    assert [d["TF Prefix"] for d in models] == ["humanoid", "quadruped", "left_arm", "right_arm"]


def test_lidars_and_cameras_of_a_scene_are_displayed(template, tmp_path):
    (tmp_path / "scene.yaml").write_text(
        """
        robots:
          - name: arm
            model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
            lidars:
              - {name: flat, body: base_link}
              - {name: round, body: base_link, vertical: {samples: 16, min: -0.2, max: 0.2}}
        cameras: [{name: corner, body: world, pose: {xyz: [2, 0, 1]}}]
        """
    )
    displays = by_topic(displays_of(filled(template, layout_of(str(tmp_path / "scene.yaml")))))
    assert displays["/lidar/flat/scan"]["Class"] == "rviz_default_plugins/LaserScan"
    assert displays["/lidar/round/points"]["Class"] == "rviz_default_plugins/PointCloud2"
    assert displays["/camera/corner/image_raw"]["Class"] == "rviz_default_plugins/Image"


def test_a_configuration_without_placeholders_is_unchanged(humanoid):
    own = {"Panels": [], "Visualization Manager": {"Displays": [{"Class": "x", "Name": "{odd}"}]}}
    assert filled(own, humanoid) == own
    assert filled({"Panels": []}, humanoid)["Panels"] == []


def test_every_displayed_topic_has_a_type_of_its_display(zoo):
    assert {entry.kind for entry in displayable_topics(zoo)} <= KINDS


def test_the_fixed_frame_is_the_root_of_tf(template, humanoid):
    def fixed_frame(layout: ModelLayout) -> str:
        return filled(template, layout)["Visualization Manager"]["Global Options"]["Fixed Frame"]

    assert fixed_frame(humanoid) == "world"
    assert fixed_frame(layout_of("office")) == "odom"
