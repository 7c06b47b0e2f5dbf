from pathlib import Path

from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.scene.worlds import shipped_models, shipped_settings, shipped_uri
from mujoco_ros.model.uri import resolve


def test_the_settings_of_a_robot_in_a_scene_are_found_by_its_model():
    settings = shipped_settings(share_directory() / "urdf_mjcf" / "arm" / "arm.xml")
    assert settings is not None
    assert (settings.keyframe, settings.gripper) == ("home", "left_finger_joint")
    assert settings.gains is not None
    assert shipped_settings(share_directory() / "urdf_mjcf" / "objects" / "box.xml") is None


def test_every_shipped_model_has_a_uri_that_resolves_to_it():
    models = shipped_models()
    assert {path.stem for path in models} >= {"arm", "humanoid", "quadruped", "box", "table"}
    for path in models:
        uri = shipped_uri(path)
        assert uri is not None
        assert resolve(uri, Path("/")) == path.resolve()


def test_other_files_have_no_uri_in_the_package(tmp_path: Path):
    assert shipped_uri(tmp_path / "box.xml") is None
