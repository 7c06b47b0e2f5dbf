"""Names of the joints whose state can be set."""

from mujoco_ros.model.naming import joint_name
from mujoco_ros.sim.state.set_state import settable_joints


def test_a_single_robot_has_its_own_names_and_several_have_their_namespace(shipped):
    assert "elbow_joint" in settable_joints(shipped("arm").model, shipped("arm").layout)
    zoo = shipped("zoo")
    found = settable_joints(zoo.model, zoo.layout)
    for index, robot in enumerate(zoo.layout.robots):
        for column, name in enumerate(robot.joints.names):
            joint = found[joint_name(robot.namespace, name)]
            assert (joint.robot, joint.column) == (index, column)
            assert joint.joint == robot.joints.ids[column]
    assert joint_name("left/arm", "elbow") == "left.arm.elbow"


def test_ball_and_free_joints_are_no_scalar_joints(simulate):
    simulation = simulate(
        """<mujoco><worldbody><body><joint name="h"/><geom size=".1"/>
        <body><joint name="b" type="ball"/><geom size=".1"/></body></body>
        <body pos="1 0 0"><freejoint name="f"/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    found = settable_joints(simulation.model, simulation.layout)
    assert list(found) == ["h"]
