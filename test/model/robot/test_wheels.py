"""Wheels are found by their joints and shapes, and drives by where the wheels are."""

from math import pi

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.drive import NoDriveError, find_drive
from mujoco_ros.model.robot.wheels import Wheels, find_wheels, half_widths, is_castor, is_mecanum

WHEEL = "type='cylinder' size='0.1 0.02' quat='1 1 0 0'"


def wheel(name, x, y, *, joint="axis='0 1 0'", geom=WHEEL, motor=True, inside=""):
    """Return a body with a wheel, and its motor."""
    body = (
        f"<body name='{name}' pos='{x} {y} 0.1'><joint name='{name}' {joint}/>"
        f"<geom {geom} mass='1'/>{inside}</body>"
    )
    return body, f"<velocity joint='{name}' kv='1'/>" if motor else ""


def robot(*parts, base="<geom type='box' size='0.3 0.1 0.05' pos='0 0 0.1'/>"):
    """Return the wheels of a robot."""
    bodies, motors = zip(*parts, strict=True)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body name='base'><freejoint/>{base}{''.join(bodies)}</body>"
        f"</worldbody><actuator>{''.join(motors)}</actuator></mujoco>"
    )
    return find_wheels(model, 1)


def pair(x=0.0, **options):
    return wheel("left", x, 0.2, **options), wheel("right", x, -0.2, **options)


def names(found: Wheels):
    return [each.joint for each in found.wheels]


@pytest.mark.parametrize(
    ("geom", "radius"),
    [
        (WHEEL, 0.1),
        ("type='sphere' size='0.1'", 0.1),
        ("type='ellipsoid' size='0.1 0.02 0.1'", 0.1),
        ("type='capsule' size='0.1' fromto='0 -0.02 0 0 0.02 0'", 0.1),
    ],
)
def test_a_round_shape_on_a_level_axle_is_a_wheel(geom, radius):
    found = robot(*pair(geom=geom))
    assert names(found) == ["left", "right"]
    for each, y in zip(found.wheels, (0.2, -0.2), strict=True):
        assert each.radius == pytest.approx(radius, rel=1e-3)
        assert each.position == pytest.approx((0.0, y, 0.1))
        assert each.direction == pytest.approx(0.0)
        assert each.is_driven


def test_a_polygon_rolls_on_its_mean_half_width():
    corners = ((1, 0), (0, 1), (-1, 0), (0, -1))
    spec = mujoco.MjSpec()
    vertices = [0.1 * c for x, z in corners for y in (0, 1) for c in (x, y, z)]
    spec.add_mesh(name="square", uservert=vertices)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="square")
    model = spec.compile()
    angles = np.linspace(0.0, 2 * pi, 360, endpoint=False)
    fan = np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)
    frame = np.zeros(9)
    mujoco.mju_quat2Mat(frame, model.geom_quat[0])
    widths = half_widths(model, 0, fan @ frame.reshape(3, 3))
    perimeter = 4 * 0.1 * 2**0.5
    assert widths.mean() == pytest.approx(perimeter / (2 * pi), rel=1e-3)


@pytest.mark.parametrize(
    "part",
    [
        wheel("a", 0.0, 0.2, joint="axis='0 0 1'"),
        wheel("a", 0.0, 0.2, joint="axis='0 1 0' range='-1 1' limited='true'"),
        wheel("a", 0.0, 0.2, geom="type='box' size='0.1 0.02 0.04'"),
        wheel(
            "a", 0.0, 0.2, geom="type='cylinder' size='0.003 0.02' quat='1 1 0 0' pos='0 0 -0.1'"
        ),
    ],
    ids=["upright axle", "limits", "not round", "pin"],
)
def test_other_links_are_no_wheels(part):
    assert robot(part).wheels == ()


def test_an_arm_above_the_ground_has_no_wheels():
    lower = "<geom type='box' size='0.1 0.1 0.3' pos='0 0 -0.3'/>"
    assert robot(*pair(), base=lower).wheels == ()


def swivel(name, x, y):
    fork, _ = wheel(f"{name}_wheel", 0.03, 0.0, motor=False)
    upright = (
        f"<body pos='{x} {y} 0'><joint name='{name}' axis='0 0 1'/><geom size='0.01' mass='0.1'/>"
    )
    return f"{upright}{fork}</body>", ""


def test_castors_and_springs_are_passive():
    left, right = pair()
    strut = "<joint name='spring' type='slide' axis='0 0 1'/><geom size='0.01' pos='0 0 .1'/>"
    spring = f"<body>{strut}{left[0]}</body>"
    found = robot((spring, left[1]), right, swivel("rear", -0.3, 0.0))
    assert found.passive == {"spring", "rear", "rear_wheel"}
    assert [is_castor(each) for each in found.wheels] == [False, False, True]
    assert find_drive(found).parameters["left_wheel_names"] == ["left"]


@pytest.mark.parametrize("name", ["idler", "trailing", "swivel_wheel", "caster"])
def test_a_wheel_with_a_motor_is_no_castor_by_its_name(name):
    left, right = pair()
    rear = wheel(f"{name}_left", -0.3, 0.2), wheel(f"{name}_right", -0.3, -0.2)
    found = robot(left, right, *rear)
    assert not any(map(is_castor, found.wheels))
    driven = {"left", "right", f"{name}_left", f"{name}_right"}
    assert set(find_drive(found).parameters["wheel_names"]) == driven


def test_a_name_makes_a_castor_only_beside_wheels_on_both_sides():
    left, right = pair()
    assert robot(left, right, wheel("caster", -0.3, 0.0)).passive == {"caster"}
    assert robot(left, wheel("caster_right", 0.0, -0.2)).passive == frozenset()


def test_shapes_of_the_base_that_touch_the_ground_are_castors_or_drag():
    ball = "<body name='ball' pos='-0.2 0 0.02'><geom size='0.02'/></body>"
    skid = "<geom type='box' size='0.3 0.1 0.06' pos='0 0 0.05'/>"
    supports = {each.link: each for each in robot(*pair(), base=skid + ball).supports}
    assert supports["ball"].is_castor
    assert not supports["base"].is_castor
    assert supports["base"].depth == pytest.approx(0.01, abs=1e-4)


def test_two_driven_sides_are_a_differential_drive():
    drive = find_drive(robot(*pair()))
    assert drive.type == "diff_drive_controller/DiffDriveController"
    assert drive.parameters == {
        "left_wheel_names": ["left"],
        "right_wheel_names": ["right"],
        "wheel_separation": pytest.approx(0.4),
        "wheel_radius": pytest.approx(0.1, rel=1e-3),
    }
    assert "wheel_separation 0.4" in str(drive)


def test_a_side_whose_axles_point_the_other_way_has_a_negative_radius():
    left, _ = pair()
    right = wheel("right", 0.0, -0.2, joint="axis='0 -1 0'")
    parameters = find_drive(robot(left, right)).parameters
    assert parameters["right_wheel_radius_multiplier"] == pytest.approx(-1.0)


def test_an_axle_away_from_the_base_frame_is_given_by_places():
    drive = find_drive(robot(*pair(x=-0.1)))
    assert drive.type == "mujoco_ros/WheelDriveController"
    assert drive.parameters["wheel_x"] == pytest.approx([-0.1, -0.1])
    assert drive.parameters["fixed_axle"]


CORNERS = (("fl", 0.3, 0.2), ("fr", 0.3, -0.2), ("rl", -0.3, 0.2), ("rr", -0.3, -0.2))


def test_four_wheels_are_a_differential_drive_unless_they_are_mecanum_wheels():
    found = robot(*(wheel(*corner) for corner in CORNERS))
    assert find_drive(found).parameters["left_wheel_names"] == ["fl", "rl"]
    drive = find_drive(found, is_holonomic=True)
    assert drive.type == "mecanum_drive_controller/MecanumDriveController"
    assert drive.parameters["front_left_wheel_command_joint_name"] == "fl"
    reach = "kinematics.sum_of_robot_center_projection_on_X_Y_axis"
    assert drive.parameters[reach] == pytest.approx(0.5)
    named = robot(*(wheel(f"{name}_mecanum", x, y) for name, x, y in CORNERS))
    assert all(map(is_mecanum, named.wheels))
    assert find_drive(named).type == drive.type


def test_wheels_around_a_robot_are_omni_wheels():
    places = [(0.2, 0.0, "1 0 0"), (-0.1, 0.173, "-0.5 0.866 0"), (-0.1, -0.173, "-0.5 -0.866 0")]
    parts = [
        wheel(f"w{i}", x, y, joint=f"axis='{axis}'", geom="type='sphere' size='0.1'")
        for i, (x, y, axis) in enumerate(places)
    ]
    drive = find_drive(robot(*parts))
    assert drive.type == "mujoco_ros/WheelDriveController"
    assert "fixed_axle" not in drive.parameters


def steered(name, x, y, *, axis="0 0 1"):
    inner, motor = wheel(f"{name}_wheel", 0.0, 0.0, motor=False)
    return (
        f"<body pos='{x} {y} 0'><joint name='{name}' axis='{axis}' range='-40 40' limited='true'/>"
        f"<geom size='0.01' mass='0.1' pos='0 0 .1'/>{inner}</body>",
        f"<position joint='{name}'/>{motor}",
    )


def test_steered_wheels_ahead_of_driven_ones_are_ackermann_steering():
    drive = find_drive(
        robot(*pair(x=-0.4), steered("left_steer", 0.4, 0.15), steered("right_steer", 0.4, -0.15))
    )
    assert drive.type == "ackermann_steering_controller/AckermannSteeringController"
    assert drive.parameters["traction_joints_names"] == ["right", "left"]
    assert drive.parameters["steering_joints_names"] == ["right_steer", "left_steer"]
    assert drive.parameters["wheelbase"] == pytest.approx(0.8)
    assert drive.parameters["traction_track_width"] == pytest.approx(0.4)
    assert drive.parameters["steering_track_width"] == pytest.approx(0.3)


def test_axes_of_steered_robots_that_point_down_or_to_the_right_have_signs():
    left, _ = pair(x=-0.4)
    wheels = left, wheel("right", -0.4, -0.2, joint="axis='0 -1 0'")
    drive = find_drive(
        robot(*wheels, steered("left_steer", 0.4, 0.15, axis="0 0 -1"), steered("s", 0.4, -0.15))
    )
    assert drive.parameters["traction_joints_names"] == ["right", "left"]
    assert drive.parameters["traction_signs"] == [-1.0, 1.0]
    assert drive.parameters["steering_joints_names"] == ["s", "left_steer"]
    assert drive.parameters["steering_signs"] == [1.0, -1.0]
    assert drive.contradictions(drive.type, drive.parameters) == []
    given = {n: v for n, v in drive.parameters.items() if "signs" not in n}
    axles, steering = drive.contradictions(drive.type, given)
    assert "traction_signs [-1.0, 1.0] changes that" in axles
    assert "axes of steering joints point downwards" in steering


def test_joints_of_steered_robots_in_the_wrong_order_are_told():
    drive = find_drive(
        robot(*pair(x=-0.4), steered("left_steer", 0.4, 0.15), steered("right_steer", 0.4, -0.15))
    )
    swapped = {"steering_joints_names": ["left_steer", "right_steer"]}
    (told,) = drive.contradictions(drive.type, {**drive.parameters, **swapped})
    assert told.startswith("steering_joints_names has 'left_steer', which is on the left, before")


def test_one_steered_wheel_is_a_tricycle():
    drive = find_drive(robot(*pair(x=-0.4), steered("steer", 0.4, 0.0)))
    assert drive.type == "tricycle_steering_controller/TricycleSteeringController"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (pair(motor=False), "no actuator turns"),
        ((wheel("a", 0.0, 0.2), wheel("b", 0.3, 0.2)), "on one side"),
        ([wheel("a", 0.2, 0.0, joint="axis='1 0 0'", geom="type='sphere' size='0.1'")], "sideways"),
    ],
)
def test_a_robot_that_nothing_can_drive_says_why(parts, reason):
    with pytest.raises(NoDriveError, match=reason):
        find_drive(robot(*parts))


def test_parameters_that_contradict_the_wheels_are_told():
    drive = find_drive(robot(*pair()))
    given = {name: drive.parameters[name] for name in drive.parameters}
    assert drive.contradictions(drive.type, given) == []
    assert drive.contradictions("tricycle_controller/TricycleController", {}) == []
    swapped = given | {
        "left_wheel_names": given["right_wheel_names"],
        "right_wheel_names": given["left_wheel_names"],
    }
    left, right = drive.contradictions(drive.type, swapped)
    assert left == (
        "left_wheel_names has 'right', which is on the right: the robot turns against its odometry"
    )
    assert "right_wheel_names has 'left'" in right
    large = given | {"wheel_radius": 1.2 * given["wheel_radius"]}
    (told,) = drive.contradictions(drive.type, large)
    assert told.startswith("wheel_radius is ")
    assert told.endswith("in the model")
    both = {f"{side}_wheel_radius_multiplier": 1 / 1.2 for side in ("left", "right")}
    assert drive.contradictions(drive.type, large | both) == []
    one = {"left_wheel_radius_multiplier": 1 / 1.2}
    (told,) = drive.contradictions(drive.type, large | one)
    assert told.startswith("wheel_radius is 0.12")
    (told,) = drive.contradictions(drive.type, given | one)
    assert told.startswith("wheel_radius with left_wheel_radius_multiplier is 0.083")
    wide = given | {"wheel_separation": 0.2}
    assert len(drive.contradictions(drive.type, wide)) == 1
    assert drive.contradictions(drive.type, wide | {"wheel_separation_multiplier": 2.0}) == []


def test_a_controller_that_drives_sideways_needs_wheels_with_rollers():
    found = robot(*(wheel(*corner) for corner in CORNERS))
    mecanum = "mecanum_drive_controller/MecanumDriveController"
    (told,) = find_drive(found).contradictions(mecanum, {})
    assert told.startswith("the wheels of the model roll as ordinary ones")
    drive = find_drive(found, is_holonomic=True)
    assert drive.contradictions(mecanum, drive.parameters) == []


def test_the_separation_of_wheels_that_skid_may_be_calibrated():
    drive = find_drive(robot(*(wheel(*corner) for corner in CORNERS)))
    given = {**drive.parameters, "wheel_separation_multiplier": 1.875}
    assert drive.contradictions(drive.type, given) == []
    (told,) = drive.contradictions(drive.type, given | {"wheel_separation": 0.8})
    assert told == "wheel_separation is 0.8, and 0.4 in the model"


def test_an_axle_against_the_joint_of_a_file_is_told():
    left, _ = pair()
    drive = find_drive(robot(left, wheel("right", 0.0, -0.2, joint="axis='0 -1 0'")))
    given = {n: v for n, v in drive.parameters.items() if "multiplier" not in n}
    (told,) = drive.contradictions(drive.type, given)
    assert told == ("wheel_radius with right_wheel_radius_multiplier is 0.1, and -0.1 in the model")
