import mujoco
import pytest

from mujoco_ros.bridge.publishing.topic_plan import check_names
from mujoco_ros.bridge.publishing.topics import robot_topics
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.parts import ScenePart

SENSORS = {
    "imu": '<gyro site="{0}"/>',
    "wrench": '<force site="{0}"/><torque site="{0}"/>',
    "contact": '<touch name="{0}" site="{0}"/>',
}


def topics_of(kind, *names):
    sites = "".join(f'<site name="{name}"/>' for name in names)
    sensors = "".join(SENSORS[kind].format(name) for name in names)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><joint/><geom size='0.1'/>{sites}</body></worldbody>"
        f"<sensor>{sensors}</sensor></mujoco>"
    )
    robot = RobotConfig(name="bare", model="bare.xml")
    config = SceneConfig(robots=(robot,), merged=False)
    parts = (ScenePart(config=robot, spec=None, prefix=""),)
    layout = lay_out(Assembly(config=config, model=model, base=None, parts=parts))
    return list(robot_topics(0, layout.robots[0], 0, "child_on_parent"))


@pytest.mark.parametrize("kind", SENSORS)
@pytest.mark.parametrize("names", [("a b", "a-b"), ("ä", "ö"), ("1a", "_1a")])
def test_elements_with_equal_topic_names_are_refused(kind, names):
    with pytest.raises(
        UserInputError, match=f"two elements of the model would publish on '{kind}/"
    ):
        check_names(topics_of(kind, *names))


def test_a_name_that_is_too_long_for_a_topic_is_refused():
    with pytest.raises(UserInputError, match="is longer than 200"):
        check_names(topics_of("imu", "x" * 300))


def test_names_that_differ_are_accepted():
    check_names(topics_of("imu", "left", "right"))
