from xml.etree import ElementTree

import mujoco
import pytest

from mujoco_ros.model.robot.actuators import joint_actuators, joint_effort
from mujoco_ros.model.urdf.exporting.exporter import export_urdf

JOINTS = ("servo", "motor", "geared", "limited", "pulled", "free")
BODY = '<body name="{0}"><joint name="{0}"/><geom size="0.1"/></body>'
MODEL = f"""
<mujoco>
  <compiler autolimits="true"/>
  <worldbody>{"".join(BODY.format(joint) for joint in JOINTS)}</worldbody>
  <tendon><fixed name="cord"><joint joint="pulled" coef="1"/></fixed></tendon>
  <actuator>
    <pid joint="servo" kp="10" input="pos vel ff" forcerange="-7 7"/>
    <motor joint="motor" ctrlrange="-3 2"/>
    <general joint="geared" gear="-4" gainprm="5" ctrlrange="-1 1" forcerange="-9 2"/>
    <motor joint="limited" ctrlrange="-30 30"/>
    <motor tendon="cord" ctrlrange="-1 1"/>
  </actuator>
</mujoco>""".replace('<joint name="limited"/>', '<joint name="limited" actuatorfrcrange="-11 11"/>')
EFFORTS = {
    "servo": 7.0,
    "motor": 3.0,
    "geared": 20.0,
    "limited": 11.0,
    "pulled": float("inf"),
    "free": float("inf"),
}


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(MODEL)


@pytest.mark.parametrize(("joint", "effort"), EFFORTS.items())
def test_the_effort_limit_of_a_joint_is_the_sum_of_those_of_its_actuators(model, joint, effort):
    assert model.nu != model.nactuator
    assert joint_effort(model, model.joint(joint).id) == effort


def test_an_actuator_on_a_tendon_does_not_count_for_the_joint(model):
    assert joint_actuators(model, model.joint("pulled").id) == []
    assert joint_actuators(model, model.joint("motor").id) == [1]


def test_an_exported_description_has_these_efforts_and_none_where_unlimited(model):
    robot = ElementTree.fromstring(export_urdf(model))
    found = {
        j.get("name"): float(j.find("limit").get("effort")) for j in robot.iterfind("joint[limit]")
    }
    assert found == {
        joint: 0.0 if effort == float("inf") else effort for joint, effort in EFFORTS.items()
    }
