"""What is shown of the joints of a robot."""

import math

from still_state import StillState

from mujoco_ros.viewer.joint_rows import joint_rows


def test_a_row_has_the_limits_and_units_of_its_joint():
    state = StillState("arm")
    robot = state.layout.robots[0]
    by_name = {row.name: row for row in joint_rows(state.model, robot.joints)}
    joint, finger = by_name["shoulder_pan_joint"], by_name["left_finger_joint"]
    assert (joint.unit, finger.unit, finger.effort_unit) == ("rad", "m", "N")
    assert joint.is_limited
    assert joint.is_actuated
    model = state.model.joint(robot.prefix + "shoulder_pan_joint")
    assert (joint.low, joint.high) == tuple(model.range)
    assert 0.0 < joint.effort < math.inf


def test_wheels_take_velocities_and_the_joints_of_an_arm_do_not():
    for scene, takes in (("rover", True), ("arm", False)):
        state = StillState(scene)
        rows = joint_rows(state.model, state.layout.robots[0].joints)
        assert {row.takes_velocities for row in rows} == {takes}


MUSCLE = """
<mujoco>
  <worldbody>
    <body>
      <joint name="elbow" range="-1 1" limited="true"/><geom size="0.1"/>
      <body pos="0.3 0 0"><joint name="wrist" range="-1 1"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><muscle name="biceps" joint="elbow"/><motor name="wrist" joint="wrist"/></actuator>
</mujoco>
"""


def test_a_joint_with_a_muscle_alone_takes_no_references(tmp_path):
    path = tmp_path / "scene.xml"
    path.write_text(MUSCLE)
    state = StillState(str(path))
    rows = joint_rows(state.model, state.layout.robots[0].joints)
    assert {row.name: row.is_actuated for row in rows} == {"elbow": False, "wrist": True}
