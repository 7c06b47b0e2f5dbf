import pytest

from mujoco_ros.identification.robot_model import SceneRealism
from mujoco_ros.model.realism_config import RealismConfig, merged

JOINTS = ("hip", "knee", "toe")


def realism(**sections):
    return SceneRealism(config=RealismConfig(**sections), joints=JOINTS, actuated=JOINTS[:2])


def delays(scene, joints, delay):
    """Return the delays by joint of the scene with its entries changed."""
    changed = RealismConfig(actuators=scene.delayed(joints, delay))
    after = SceneRealism(
        config=merged(scene.config, changed), joints=JOINTS, actuated=scene.actuated
    )
    return {joint: after.delay([joint]) for joint in scene.actuated}


@pytest.mark.parametrize(
    "actuators",
    [
        {},
        {"drives": {"match": "knee", "backlash": 0.1}},
        {"all": {"backlash": 0.1}},
        {"one": {"match": ["hip"]}, "other": {"match": "k*"}},
    ],
)
def test_only_the_fitted_joints_get_the_delay(actuators):
    scene = realism(actuators=actuators)
    assert delays(scene, ["hip"], 0.004) == {"hip": 0.004, "knee": 0.0}
    assert delays(scene, ["hip", "knee"], 0.004) == {"hip": 0.004, "knee": 0.004}


def test_the_delay_of_the_scene_is_that_of_the_entries_of_the_joints():
    scene = realism(
        actuators={"a": {"match": "hip", "delay": 0.003}, "b": {"match": "knee", "delay": 0.1}}
    )
    assert scene.delay(["hip"]) == 0.003
    assert scene.delay(["hip", "knee"]) == 0.1
    assert realism().delay(["hip"]) == 0.0


def test_a_part_of_an_entry_keeps_its_other_values():
    scene = realism(actuators={"all": {"backlash": 0.1, "delay": 0.002}})
    assert scene.delayed(["hip"], 0.004) == {
        "all": {"match": ["knee"]},
        "all_fitted": {"backlash": 0.1, "delay": 0.004, "match": ["hip"]},
    }


def test_settings_that_a_fit_leaves_out_are_named():
    scene = realism(
        actuators={
            "bus": {"match": "hip", "delay": 0.002, "backlash": 0.1, "interval": 0.004},
            "other": {"match": "knee", "jitter": 0.001},
        },
        joints={"encoders": {"position_noise": 1e-4, "delay": 0.002}},
    )
    assert set(scene.left_out(["hip"])) == {
        *("actuators.bus.backlash", "actuators.bus.interval", "joints.encoders.delay")
    }
