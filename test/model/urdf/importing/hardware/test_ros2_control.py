"""<ros2_control> blocks of a URDF."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.layout import lay_out

STANDARD_GRAVITY = 9.81


def block(content: str) -> str:
    """Return a block."""
    hardware = "<hardware><plugin>mock_components/GenericSystem</plugin></hardware>"
    return f'<ros2_control name="system" type="system">{hardware}{content}</ros2_control>'


def joint(name: str, *commands: str, initial: str = "", inside: str = "") -> str:
    """Return a joint with command interfaces, and a position with an initial value."""
    value = f'<param name="initial_value">{initial}</param>' if initial else ""
    return (
        f'<joint name="{name}">'
        + "".join(f'<command_interface name="{command}"/>' for command in commands)
        + f'<state_interface name="position">{value}</state_interface>{inside}</joint>'
    )


def sensor(name: str, *interfaces: str, inside: str = "") -> str:
    """Return a sensor with state interfaces for the axes of groups."""
    axes = [f"{group}.{axis}" for group in interfaces for axis in "xyz"]
    states = "".join(f'<state_interface name="{axis}"/>' for axis in axes)
    return f'<sensor name="{name}">{states}{inside}</sensor>'


def simulate(model: mujoco.MjModel, seconds: float) -> mujoco.MjData:
    """Simulate from the zero configuration."""
    data = mujoco.MjData(model)
    while data.time < seconds:
        mujoco.mj_step(model, data)
    return data


@pytest.mark.parametrize(
    ("commands", "is_servo"),
    [
        (("position",), False),
        (("velocity",), True),
        (("position", "velocity"), False),
        (("effort",), False),
        (("velocity", "effort"), False),
    ],
)
def test_command_interfaces_decide_the_drive(assembled, commands, is_servo):
    model = assembled(block(joint("lift", "position") + joint("spin", *commands))).model
    assert (model.actuator("spin").biasprm[2] < 0) == is_servo


def test_a_velocity_servo_follows_its_command_and_then_holds(assembled):
    model = assembled(block(joint("lift", "position") + joint("spin", "velocity"))).model
    model.actuator_gainprm[model.actuator("lift").id] = 0.0
    data = mujoco.MjData(model)
    slot, dof = model.actuator("spin").id, model.joint("spin").dofadr[0]
    data.ctrl[slot] = 2.0
    mujoco.mj_step(model, data, 1000)
    # The weight of up to 3 N m slows it by load / gain.
    assert data.qvel[dof] == pytest.approx(2.0, abs=0.01)
    data.ctrl[slot] = 0.0
    mujoco.mj_step(model, data, 500)
    held = data.joint("spin").qpos.copy()
    mujoco.mj_step(model, data, 500)
    assert data.joint("spin").qpos == pytest.approx(held, abs=0.01)
    assert held == pytest.approx(2.0 * 1000 * model.opt.timestep, rel=5e-3)


def test_a_blocked_wheel_stops_after_its_command(assembled):
    model = assembled(block(joint("lift", "position") + joint("spin", "velocity"))).model
    model.actuator_gainprm[model.actuator("lift").id] = 0.0
    data = mujoco.MjData(model)
    data.ctrl[model.actuator("spin").id] = 5.0
    for _ in range(1000):
        data.joint("spin").qpos[:], data.joint("spin").qvel[:] = 0.0, 0.0
        mujoco.mj_step(model, data)
    data.ctrl[:] = 0.0
    mujoco.mj_step(model, data, 1000)
    assert abs(data.joint("spin").qpos) < 0.1


def test_a_velocity_servo_within_limits_integrates_and_holds(assembled):
    model = assembled(block(joint("lift", "velocity") + joint("spin", "position"))).model
    assert model.actuator("lift").dyntype == mujoco.mjtDyn.mjDYN_INTEGRATOR
    assert model.actuator("lift").actrange.tolist() == model.joint("lift").range.tolist()


def test_the_gains_of_a_velocity_servo_follow_from_the_inertia(assembled):
    elements = block(joint("lift", "position") + joint("spin", "velocity"))
    heavy = "joints: {spin: {armature: 2.0}}"
    for keys, armature in (("", 0.0), (heavy, 2.0)):
        model = assembled(elements, keys).model
        name = "r/spin" if keys else "spin"
        inertia = 0.1 + 3 * 0.1**2 + armature  # Steiner
        damping = -model.actuator(name).biasprm[2]
        assert damping == pytest.approx(10 * 2 * inertia * 2 * np.pi * 25.0, rel=1e-6)
        assert model.actuator(name).gainprm[0] == damping


def test_a_joint_with_states_alone_is_passive(assembled):
    model = assembled(block(joint("lift", "position") + joint("spin"))).model
    assert [model.actuator(i).name for i in range(model.nu)] == ["lift"]


def test_an_undescribed_continuous_joint_below_the_driven_ones_is_passive(assembled, caplog):
    caplog.set_level("INFO")
    model = assembled(block(joint("lift", "position"))).model
    assert [model.actuator(i).name for i in range(model.nu)] == ["lift"]
    assert "passive: spin" in caplog.text


def test_undescribed_joints_with_limits_or_driven_links_have_motors(assembled):
    assert assembled(block(joint("spin", "position"))).model.nu == 2
    assert assembled("").model.nu == 2


def test_initial_values_are_the_start(assembled):
    elements = block(joint("lift", "position", initial="0.3") + joint("spin", initial="-1.5"))
    model = assembled(elements).model
    assert model.key(0).name == "start"
    assert model.key(0).qpos.tolist() == [0.3, -1.5]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("joints: {lift: {start: 0.7}}", [0.7, -1.5]),
        ("srdf: r.srdf", [0.3, -1.5]),
        ("srdf: r.srdf, keyframe: home", [0.1, 0.2]),
    ],
)
def test_keys_of_the_scene_precede_initial_values(assembled, tmp_path, keys, expected):
    (tmp_path / "r.srdf").write_text(
        '<robot name="r"><group_state name="home" group="all"><joint name="lift" value="0.1"/>'
        '<joint name="spin" value="0.2"/></group_state></robot>'
    )
    elements = block(joint("lift", "position", initial="0.3") + joint("spin", initial="-1.5"))
    found = assembled(elements, keys)
    name = found.config.robots[0].keyframe
    key = found.model.key(f"r/{name}") if name else found.model.key(0)
    assert key.qpos.tolist() == pytest.approx(expected)


def test_an_initial_value_outside_the_limits_is_clamped_with_a_warning(assembled, caplog):
    model = assembled(block(joint("lift", "position", initial="1.5"))).model
    assert model.key(0).qpos[0] == 1.0
    assert "start positions outside the limits: lift (1.5 becomes 1)" in caplog.text


def test_an_initial_value_does_not_replace_a_keyframe_of_the_extension(assembled, caplog):
    keyframe = '<mujoco><keyframe><key name="own" qpos="0.2 0"/></keyframe></mujoco>'
    model = assembled(block(joint("lift", "position", initial="0.5")) + keyframe).model
    assert (model.nkey, model.key(0).qpos[0]) == (1, 0.2)
    assert "because it has the keyframe 'own'" in caplog.text


def test_a_mimic_of_the_block_couples_the_joints(assembled):
    mimic = '<param name="mimic">lift</param><param name="multiplier">-2</param>'
    model = assembled(block(joint("lift", "position") + joint("spin", inside=mimic))).model
    assert model.equality("spin_mimic").data[:2].tolist() == [0.0, -2.0]
    assert model.nu == 1


def test_of_two_joints_that_mimic_each_other_the_first_one_does(assembled):
    of = {
        name: joint(name, "position", inside=f'<param name="mimic">{leader}</param>')
        for name, leader in (("lift", "spin"), ("spin", "lift"))
    }
    model = assembled(block(of["lift"] + of["spin"])).model
    assert [model.equality(i).name for i in range(model.neq)] == ["lift_mimic"]
    assert [model.actuator(i).name for i in range(model.nu)] == ["spin"]


def test_an_imu_reads_gravity_at_rest(assembled):
    imu = sensor("imu", "angular_velocity", "linear_acceleration",
        inside='<param name="frame_id">base</param>')  # fmt: skip
    found = assembled(block(imu))
    data = mujoco.MjData(found.model)
    mujoco.mj_forward(found.model, data)
    expected = [0, 0, STANDARD_GRAVITY]
    assert data.sensor("imu_accelerometer").data.tolist() == pytest.approx(expected)
    (layout,) = lay_out(found).robots[0].sensors["imu"]
    assert layout.name == "imu"
    assert layout.constants["orientation_covariance.0"] == -1.0


def test_a_force_torque_sensor_at_a_massless_frame_reads_the_load_of_its_link(assembled):
    ft = sensor("load", "force", "torque", inside='<param name="frame_id">tip</param>')
    found = assembled(block(ft))
    data = mujoco.MjData(found.model)
    found.model.dof_damping[:] = 1e9  # holds the joints
    mujoco.mj_forward(found.model, data)
    data.qacc[:] = 0.0
    mujoco.mj_inverse(found.model, data)
    mujoco.mj_sensorAcc(found.model, data)
    weight = 3 * STANDARD_GRAVITY
    force = (
        data.site_xmat[found.model.site("load").id].reshape(3, 3) @ data.sensor("load_force").data
    )
    assert force.tolist() == pytest.approx([0, 0, weight], abs=1e-6)


@pytest.mark.parametrize("name", ["tip", "tip_sensor", "tool"])
def test_the_link_of_a_sensor_follows_from_its_name(assembled, caplog, name):
    model = assembled(block(sensor(name, "linear_acceleration"))).model
    if name == "tool":
        assert model.nsensor == 0
        assert 'sensor tool: it names no link; give it a <param name="frame_id"> (1)' in caplog.text
    else:
        assert model.body(model.site_bodyid[0]).name == "tip"


def test_a_sensor_whose_site_has_sensors_already_is_not_added_again(assembled, caplog):
    site = '<param name="site">probe</param>'
    extension = (
        '<mujoco><reference name="base"><site name="probe"/></reference>'
        '<sensor><force name="probe_force" site="probe"/></sensor></mujoco>'
    )
    load, pose = sensor("load", "force", inside=site), sensor("spot", "position", inside=site)
    model = assembled(block(load + pose) + extension).model
    assert [model.sensor(i).name for i in range(model.nsensor)] == ["probe_force"]
    assert "without effect" not in caplog.text
    unmeasured = assembled(block(sensor("load", "force", inside=site.replace("probe", "tip"))))
    assert unmeasured.model.sensor("load_force").type == mujoco.mjtSensor.mjSENS_FORCE


def test_other_elements_are_counted_in_one_warning(assembled, caplog):
    inside = '<param name="min">-1</param>'
    gpio = '<gpio name="io"><command_interface name="out"/></gpio>'
    pose = sensor("pose", "position")
    unknown = joint("missing", "position")
    assembled(block(joint("lift", "position", inside=inside) + gpio + gpio + pose + unknown))
    (warning,) = [it for it in caplog.messages if "without effect" in it]
    listing = warning.partition("without effect: ")[2].split(", ")
    assert listing == [
        "ros2_control/joint/param min (1)",
        "ros2_control/gpio (2)",
        "ros2_control/sensor pose (1)",
        "ros2_control/joint: the robot has no movable joint 'missing' (1)",
    ]


def test_a_huge_initial_value_is_not_used(assembled):
    elements = block(joint("lift", "position") + joint("spin", "position", initial="1e300"))
    model = assembled(elements).model
    assert model.nkey == 0
