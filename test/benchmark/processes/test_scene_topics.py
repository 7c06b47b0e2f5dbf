from benchmark.processes.scene_topics import all_rates, topics_of
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS


def test_all_topics_are_listed_with_one_rate():
    topics = topics_of("zoo")
    assert topics[0].name == "/clock"
    assert topics[-1].name == "/tf"
    rates = all_rates(500.0)
    kinds = {kind.key for kind in SENSOR_KINDS} - {"imu", "wrench", "contact"}
    unlisted = {
        f"publish_rate.{kind}"
        for kind in (*kinds, "sensor_states", "sensor_array", "contact_states", "engine")
    }
    published = {f"publish_rate.{topic.rate}" for topic in topics[1:]}
    assert rates.keys() - published == unlisted
    assert published < rates.keys()
    assert set(rates.values()) == {500.0}


def test_the_state_of_each_trajectory_controller_is_listed():
    names = {topic.name for topic in topics_of("zoo")}
    assert "humanoid/joint_trajectory_controller/controller_state" in names
    assert "quadruped/joint_trajectory_controller/controller_state" in names
