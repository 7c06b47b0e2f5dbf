import logging
from xml.etree import ElementTree

import pytest
from hardware_blocks import Block, read_blocks

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control

ALL = frozenset({"position", "velocity", "effort"})
URDF = """<robot name="r">
  <link name="a"/><link name="b"/>
  <joint name="slide" type="prismatic"><limit lower="0" upper="1" velocity="1" effort="5"/></joint>
  <joint name="hinge" type="revolute"><limit lower="-1" upper="1" velocity="2" effort="9"/></joint>
  <joint name="wheel" type="continuous"><limit velocity="3" effort="9"/></joint>
  <joint name="mimic" type="prismatic">
    <limit lower="0" upper="1" velocity="1" effort="0"/><mimic joint="slide"/>
  </joint>
  <joint name="bolt" type="fixed"/>
</robot>"""


def joint(name: str, *takes: str, position: float = 0.0) -> HardwareJoint:
    return HardwareJoint(name=name, takes=frozenset(takes), position=position)


def written(*joints: HardwareJoint, urdf: str = URDF) -> list[Block]:
    robot = ElementTree.fromstring(urdf)
    write_ros2_control(
        robot, joints, commands_topic="/x/joint_commands", states_topic="/x/simulated"
    )
    return read_blocks(ElementTree.tostring(robot, encoding="unicode"))


def test_a_block_names_the_plugin_and_both_topics():
    (block,) = written(joint("hinge", "position"))
    assert block.plugin == "joint_state_topic_hardware_interface/JointStateTopicSystem"
    assert block.parameters["joint_commands_topic"] == "/x/joint_commands"
    assert block.parameters["joint_states_topic"] == "/x/simulated"


def test_joints_with_the_same_interfaces_are_one_component_in_their_order():
    blocks = written(
        joint("wheel", *ALL),
        joint("slide", "position"),
        joint("hinge", *ALL),
        joint("mimic"),
    )
    assert [(b.name, [j.name for j in b.joints]) for b in blocks] == [
        ("position_velocity_effort_joints", ["wheel", "hinge"]),
        ("position_joints", ["slide"]),
        ("passive_joints", ["mimic"]),
    ]


@pytest.mark.parametrize(
    "takes", [(), ("position",), ("velocity",), ("effort",), ("position", "velocity"), tuple(ALL)]
)
def test_a_joint_has_its_command_interfaces_and_all_state_interfaces(takes):
    (block,) = written(joint("hinge", *takes), joint("wheel", *takes))
    for entry in block.joints:
        assert entry.commands == tuple(
            i for i in ("position", "velocity", "effort") if i in takes
        ), "in one order, so that components of one kind look alike"
        assert tuple(entry.states) == ("position", "velocity", "effort")


def test_the_initial_value_of_a_joint_is_its_exact_position():
    (block,) = written(joint("hinge", "position", position=0.1 + 0.2))
    assert float(block.joints[0].states["position"]) == 0.1 + 0.2
    assert block.joints[0].states["velocity"] == ""


def test_a_block_always_sends_its_commands_and_never_without_command_interfaces():
    moved, passive = written(joint("hinge", "velocity"), joint("mimic"))
    assert float(moved.parameters["trigger_joint_command_threshold"]) < 0
    # With a negative threshold the plugin would send names without a number.
    assert "trigger_joint_command_threshold" not in passive.parameters


def test_a_joint_that_mimics_another_is_simulated_not_computed():
    # `read_blocks` refuses one that is not declared so.
    _, block = written(joint("slide", "position"), joint("mimic"))
    assert [entry.name for entry in block.joints] == ["mimic"]
    ((entry,),) = (block.joints for block in written(joint("mimic", "position")))
    assert entry.commands == ("position",)


@pytest.mark.parametrize("attribute", ["velocity", "effort"])
def test_a_limit_of_zero_does_not_freeze_a_joint(attribute):
    element = ElementTree.fromstring(URDF)
    element.find("joint[@name='hinge']/limit").set(attribute, "0.0")
    zeroed = ElementTree.tostring(element, encoding="unicode")
    (block,) = written(joint("hinge", *ALL), joint("wheel", *ALL), urdf=zeroed)
    assert [entry.limited for entry in block.joints] == [False, True]


def test_a_joint_that_starts_at_its_limit_is_limited_by_the_simulator_alone():
    places = [0.0, 1.0 + 1e-7, 0.5]
    blocks = [written(joint("slide", *ALL, position=place))[0] for place in places]
    assert [block.joints[0].limited for block in blocks] == [False, False, True]


def test_an_invalid_limit_is_an_error_that_names_the_joint():
    with pytest.raises(UserInputError, match=r"joint 'hinge': .*velocity=\"fast\""):
        written(joint("hinge", "position"), urdf=URDF.replace('velocity="2"', 'velocity="fast"'))


def test_blocks_for_the_real_hardware_are_replaced_with_a_warning(caplog):
    own = (
        '<ros2_control name="driver" type="system"><hardware><plugin> maker/Driver </plugin>'
        "</hardware></ros2_control>"
    )
    with caplog.at_level(logging.INFO, "mujoco_ros"):
        (block,) = written(
            joint("hinge", "position"), urdf=URDF.replace("</robot>", f"{own}{own}</robot>")
        )
    assert block.name == "position_joints"
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    assert "'driver' of the URDF (maker/Driver)" in caplog.records[0].getMessage()


def test_joints_missing_in_the_urdf_are_omitted_with_a_warning(caplog):
    (block,) = written(
        joint("hinge", "position"), joint("bolt", "position"), joint("other", "position")
    )
    assert [entry.name for entry in block.joints] == ["hinge"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "bolt, other" in record.getMessage()


def test_the_rest_of_the_urdf_is_unchanged():
    robot = ElementTree.fromstring(URDF)
    before = [ElementTree.canonicalize(ElementTree.tostring(e), strip_text=True) for e in robot]
    write_ros2_control(
        robot, [joint("hinge", *ALL)], commands_topic="/joint_commands", states_topic="/states"
    )
    after = [ElementTree.canonicalize(ElementTree.tostring(e), strip_text=True) for e in robot]
    assert after[:-1] == before
    assert robot.get("name") == "r"
