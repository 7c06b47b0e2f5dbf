"""Transmissions of a URDF."""

import pytest

from mujoco_ros.model.urdf.importing.importer import import_urdf


def transmission(*joints: str, inside: str = "", interface: str = "Effort") -> str:
    """Return a transmission with one actuator, of one or several joints."""
    kind = f"hardware_interface/{interface}JointInterface"
    of_joints = "".join(
        f'<joint name="{joint}"><hardwareInterface>{kind}</hardwareInterface></joint>'
        for joint in joints
    )
    return (
        '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>'
        f'{of_joints}<actuator name="motor">{inside}</actuator></transmission>'
    )


@pytest.mark.parametrize(
    ("inside", "armature"),
    [
        ("<rotorInertia>2e-4</rotorInertia><mechanicalReduction>50</mechanicalReduction>", 0.5),
        ("<motor_inertia>2e-4</motor_inertia>", 2e-4),
        ("<mechanicalReduction>50</mechanicalReduction>", 0.0),
        (
            '<d:rotor_inertia xmlns:d="http://drake.mit.edu" value="1e-3"/>'
            '<d:gear_ratio xmlns:d="http://drake.mit.edu" value="-10"/>',
            0.1,
        ),
    ],
)
def test_armature_is_the_rotor_inertia_times_the_square_of_the_reduction(
    assembled, inside, armature
):
    model = assembled(transmission("spin", inside=inside)).model
    assert model.dof_armature.tolist() == pytest.approx([0.0, armature])


def test_reductions_of_joint_and_actuator_multiply_and_actuators_add(assembled):
    text = """<transmission name="t"><plugin>transmission_interface/SimpleTransmission</plugin>
      <joint name="spin" role="joint1"><mechanical_reduction>2</mechanical_reduction></joint>
      <actuator name="a"><rotorInertia>0.01</rotorInertia>
        <mechanical_reduction>3</mechanical_reduction></actuator>
      <actuator name="b"><rotorInertia>0.02</rotorInertia></actuator></transmission>"""
    expected = 0.01 * 6**2 + 0.02 * 2**2
    control = f'<ros2_control name="c" type="system">{text}</ros2_control>'
    for elements in (text, control):
        assert assembled(elements).model.dof_armature[1] == pytest.approx(expected)


def test_the_armature_of_dynamics_precedes(assembled, tmp_path):
    elements = transmission("spin", inside="<rotorInertia>1</rotorInertia>")
    robot = assembled(elements)
    path = tmp_path / "r.urdf"
    path.write_text(path.read_text().replace('rpy="0 1.57079632679 0"/>',
        'rpy="0 1.57079632679 0"/><dynamics armature="0.3"/>'))  # fmt: skip
    assert robot.model.dof_armature[1] == 1.0
    assert import_urdf(path).spec.compile().dof_armature[1] == 0.3


def test_several_joints_have_motors_and_no_armature(assembled, caplog):
    inside = "<rotorInertia>1</rotorInertia>"
    model = assembled(transmission("lift", "spin", inside=inside)).model
    assert model.dof_armature.tolist() == [0.0, 0.0]
    assert model.nu == 2
    assert "transmission/actuator (1)" in caplog.text


def test_an_unknown_joint_is_named(assembled, caplog):
    assembled(transmission("none"))
    assert "transmission: the robot has no movable joint 'none' (1)" in caplog.text


def test_a_velocity_interface_is_a_velocity_servo(assembled):
    model = assembled(transmission("spin", interface="Velocity")).model
    assert model.actuator("spin").biasprm[2] < 0
    assert model.actuator("lift").biasprm[2] == 0


@pytest.mark.parametrize("inertia", ["1e300", "1e5"])
@pytest.mark.parametrize("reduction", ["1e200", "1e8"])
def test_a_huge_armature_is_not_used(assembled, inertia, reduction):
    inside = f"<rotorInertia>{inertia}</rotorInertia>"
    inside += f"<mechanicalReduction>{reduction}</mechanicalReduction>"
    armature = assembled(transmission("lift", inside=inside)).model.joint("lift").armature
    assert 0 <= armature <= 1e9
