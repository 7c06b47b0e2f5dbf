"""The <mujoco> extension of a URDF."""

from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.urdf.importing.importer import SECTIONS, import_urdf

LINK = """
<link name="{}">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.05"/></geometry></collision>
</link>
"""
JOINT = """
<joint name="{child}_joint" type="revolute">
  <parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/><origin xyz="0.2 0 0"/>
  <limit lower="-2" upper="2" effort="10" velocity="1"/>
</joint>
"""
LINKS = ("base", "upper", "lower", "tip")
ROBOT = "".join(map(LINK.format, LINKS)) + "".join(
    JOINT.format(parent=parent, child=child) for parent, child in pairwise(LINKS)
)


@pytest.fixture
def load(tmp_path: Path):
    """Load a URDF with the content of its extension."""

    def loader(*contents: str) -> mujoco.MjModel:
        extension = "".join(f"<mujoco>{content}</mujoco>" for content in contents)
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">{ROBOT}{extension}</robot>')
        return import_urdf(path).spec.compile()

    return loader


def test_settings_defaults_and_statistics_hold(load):
    model = load(
        '<option timestep="0.005"/>'
        '<default><geom friction="0.3 0.1 0.1"/><joint armature="0.2"/></default>'
        '<statistic extent="3"/>'
    )
    assert model.opt.timestep == 0.005
    np.testing.assert_allclose(model.geom_friction, [[0.3, 0.1, 0.1]] * 4)
    np.testing.assert_allclose(model.dof_armature, 0.2)
    assert model.stat.extent == 3


def test_excluded_contacts_hold(load):
    before = load().nexclude
    excluded = '<contact><exclude body1="upper" body2="tip"/></contact>'
    assert load(excluded).nexclude == before + 1


def test_an_actuator_replaces_the_motor_of_its_joint(load):
    model = load('<actuator><position name="servo" joint="lower_joint" kp="30"/></actuator>')
    names = [model.actuator(index).name for index in range(model.nactuator)]
    assert sorted(names) == ["servo", "tip_joint", "upper_joint"]
    assert model.actuator("servo").gainprm[0] == 30


def test_sensors_tendons_equalities_keyframes_and_numbers_are_read(load):
    model = load(
        '<tendon><fixed name="t"><joint joint="upper_joint" coef="1"/></fixed></tendon>'
        '<sensor><jointpos name="q" joint="tip_joint"/><tendonpos tendon="t"/></sensor>'
        '<equality><joint joint1="upper_joint" joint2="lower_joint"/></equality>'
        '<keyframe><key name="bent" qpos="0.1 0.2 0.3"/></keyframe>'
        '<custom><numeric name="n" data="4"/></custom>'
    )
    assert (model.nsensor, model.ntendon, model.neq, model.nnumeric) == (2, 1, 1, 1)
    np.testing.assert_allclose(model.key("bent").qpos, [0.1, 0.2, 0.3])


def test_several_extensions_are_one(load):
    model = load('<option timestep="0.005"/>', '<custom><numeric name="n" data="4"/></custom>')
    assert (model.opt.timestep, model.nnumeric) == (0.005, 1)


def test_other_elements_are_named_in_a_warning(load, caplog):
    load("<worldbody/>", "<asset/>", "<size/>")
    (record,) = caplog.records
    assert "ignored: <worldbody>, <asset>; these are read: " in record.getMessage()
    assert all(section in record.getMessage() for section in SECTIONS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<sensor><gyr/></sensor>", "in its <mujoco> extension: .*gyr"),
        (
            '<default><include file="/etc/passwd"/></default>',
            "in its <mujoco> extension: <default> includes a file",
        ),
        ('<sensor><jointpos joint="tip"/></sensor>', "MuJoCo rejects the model: .*tip"),
    ],
)
def test_mistakes_name_the_file_and_the_element(load, content: str, message: str):
    with pytest.raises(UserInputError, match=rf"r\.urdf: {message}"):
        load(content)


REFERENCE = (
    '<reference name="tip"><site name="probe" pos="0 0 0.1"/>'
    '<camera name="eye" pos="0.2 0 0" fovy="40"/></reference>'
)


def test_a_reference_adds_elements_to_the_body_of_a_link(load):
    model = load(REFERENCE, '<sensor><force name="f" site="probe"/></sensor>')
    probe, eye = model.site("probe"), model.camera("eye")
    assert model.body(probe.bodyid[0]).name == model.body(eye.bodyid[0]).name == "tip"
    np.testing.assert_allclose(probe.pos, (0.0, 0.0, 0.1))
    assert model.cam_fovy[eye.id] == 40.0
    assert model.nbody == load().nbody


def test_references_may_name_a_link_twice(load):
    second = '<reference name="tip"><site name="second"/></reference>'
    assert load(REFERENCE, second).nsite == 2


def test_what_a_reference_cannot_have_is_named(load, caplog):
    load('<reference name="tip"><body name="b"/><site name="probe"/></reference>')
    assert "<body> of a reference" in caplog.text
    with pytest.raises(UserInputError, match=r"<reference>: link 'tipp' not found"):
        load('<reference name="tipp"><site name="probe"/></reference>')
    with pytest.raises(UserInputError, match="in its <mujoco> extension"):
        load('<reference name="tip"><site name="probe" pos="x"/></reference>')
