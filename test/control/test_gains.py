from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.control.gains import load_gains
from mujoco_ros.model.errors import UserInputError

JOINTS = ("hip", "knee", "spring", "ankle")
DRIVEN = ("hip", "knee", "ankle")


@pytest.fixture
def gains(tmp_path: Path):
    """A function that loads gains from a file of the given content."""

    def load(text: str | bytes, name: str = "gains.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_gains(path, JOINTS, DRIVEN)

    return load


YAML = """
# Nm/rad, Nms/rad
ankle: {kp: 30, kd: 3.5}
hip: {kp: 1.0e+2, kd: 0}
knee: {kp: 20.5, kd: 2}
"""


def test_yaml_gains_are_in_joint_order_for_any_order_of_the_file(gains):
    loaded = gains(YAML)
    np.testing.assert_array_equal(loaded.kp, [100.0, 20.5, 0.0, 30.0])
    np.testing.assert_array_equal(loaded.kd, [0.0, 2.0, 0.0, 3.5])


def test_a_changed_file_is_read_again(gains):
    before, after = gains(YAML), gains(YAML.replace("20.5", "25"))
    assert before.kp.tolist() != after.kp.tolist()
    assert gains(YAML).kp.tolist() == before.kp.tolist()


def test_joints_that_need_no_gains_can_have_some(gains):
    assert gains(YAML + "spring: {kp: 1, kd: 2}").kp[2] == 1.0


@pytest.mark.parametrize("name", ["PDgains_sim.dat", "gains.txt", "gains"])
def test_text_gains_are_a_line_for_each_driven_joint(gains, name):
    loaded = gains("# kp kd\n100 0\n20.5\t2.0  # the knee\n\n   30 3.5\n", name)
    np.testing.assert_array_equal(loaded.kp, [100.0, 20.5, 0.0, 30.0])
    np.testing.assert_array_equal(loaded.kd, [0.0, 2.0, 0.0, 3.5])


def test_text_gains_can_be_a_line_for_each_joint(gains):
    loaded = gains("100 0\n20.5 2\n7 8\n30 3.5\n", "PDgains_sim.dat")
    np.testing.assert_array_equal(loaded.kp, [100.0, 20.5, 7.0, 30.0])
    np.testing.assert_array_equal(loaded.kd, [0.0, 2.0, 8.0, 3.5])


@given(
    pairs=st.lists(
        st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=len(DRIVEN), max_size=len(DRIVEN)
    )
)
def test_both_formats_are_equivalent(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("gains")
    text, yaml = folder / "gains.dat", folder / "gains.yml"
    text.write_text("".join(f"{kp!r} {kd!r}\n" for kp, kd in pairs))
    yaml.write_text(
        "".join(
            f"{j}: {{kp: {kp!r}, kd: {kd!r}}}\n" for j, (kp, kd) in zip(DRIVEN, pairs, strict=True)
        )
    )
    one, other = (load_gains(path, JOINTS, DRIVEN) for path in (text, yaml))
    np.testing.assert_array_equal(one.kp, other.kp)
    np.testing.assert_array_equal(one.kd, other.kd)
    np.testing.assert_array_equal(one.kp[[0, 1, 3]], [kp for kp, _ in pairs])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (YAML + "knie: {kp: 1, kd: 1}", r"joint 'knie' not found \(did you mean 'knee'\?\)"),
        ("hip: {kp: 1, kd: 1}", r"no gains for the motor-driven joints knee, ankle"),
        (YAML + "hip: {kp: 1, kd: 1}", r"line 6: key 'hip' is given twice"),
        (YAML.replace("kd: 2}", "ki: 2}"), r"knee: expected the keys kp and kd"),
        (YAML.replace(", kd: 2}", "}"), r"knee: expected the keys kp and kd"),
        (YAML.replace("{kp: 20.5, kd: 2}", "20.5"), r"knee: expected the keys kp and kd, got 20.5"),
        (YAML.replace("20.5", "stiff"), r"knee\.kp: expected a number, got 'stiff'"),
        (YAML.replace("20.5", "[1]"), r"knee\.kp: expected a number"),
        (YAML.replace("20.5", "-1"), r"knee\.kp: a gain must be from 0 to 1e\+06"),
        (YAML.replace("20.5", ".nan"), r"knee\.kp: a gain must be from 0 to"),
        (YAML.replace("20.5", ".inf"), r"knee\.kp: a gain must be from 0 to"),
        (YAML.replace("20.5", "true"), r"knee\.kp: a gain must be from 0 to"),
        ("- 1\n- 2", r"expected 'joint: \{kp: …, kd: …\}' lines"),
        ("", r"expected 'joint: \{kp: …, kd: …\}' lines"),
        ("hip: {kp: 1", r"not valid YAML"),
        (b"\xff\xfe\x00", r"cannot be read"),
    ],
)
def test_an_invalid_yaml_file_is_one_clear_error(gains, text, message):
    with pytest.raises(UserInputError, match=rf"gains\.yaml: .*{message}"):
        gains(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n3 4\n", r"has 2 lines of 'kp kd', the robot has 3 motor-driven joints: hip, knee"),
        ("1 2\n3 4\n5 6\n7 8\n9 10\n", r"has 5 lines.* 3 motor-driven .*; and 4 joints in all"),
        ("1 2\n3\n5 6\n", r"line 2: expected 'kp kd', got 1 value"),
        ("1 2\n# knee\n3 4 5\n5 6\n", r"line 3: expected 'kp kd', got 3 values"),
        ("1 2\n3 x\n5 6\n", r"line 2: expected a number, got 'x'"),
        ("1 2\n3 4\n5 -6\n", r"line 3: a gain must be from 0 to 1e\+06"),
        ("1 2\n3 nan\n5 6\n", r"line 2: a gain must be from 0 to"),
        (b"\xff\xfe\x00", r"cannot be read"),
    ],
)
def test_an_invalid_text_file_is_one_clear_error(gains, text, message):
    with pytest.raises(UserInputError, match=rf"gains\.dat: .*{message}"):
        gains(text, "gains.dat")


@pytest.mark.parametrize("name", ["missing.yaml", "missing.dat"])
def test_a_missing_file_is_one_clear_error(tmp_path, name):
    with pytest.raises(UserInputError, match=rf"{name}' does not exist"):
        load_gains(tmp_path / name, JOINTS, DRIVEN)
