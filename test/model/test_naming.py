import pytest

from mujoco_ros.model.naming import check_name, counted, to_name, unique_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("box", "box"),
        ("my box-2", "my_box_2"),
        ("2nd", "model_2nd"),
        ("_x", "x"),
        ("ä", ""),
        ("…", ""),
        ("x" * 99, "x" * 50),
    ],
)
def test_a_text_becomes_a_valid_name(text, name):
    assert to_name(text) == name
    if name:
        check_name(name)


def test_one_is_counted_in_the_singular():
    assert [counted(n, "IMU") for n in (0, 1, 2)] == ["0 IMUs", "1 IMU", "2 IMUs"]
    assert [counted(n, "body") for n in (1, 2)] == ["1 body", "2 bodies"]


def test_a_name_in_use_gets_the_first_free_number():
    assert unique_name("box", []) == "box"
    assert unique_name("box", ["box"]) == "box_1"
    assert unique_name("box", ["box", "box_1", "box_3"]) == "box_2"


def test_a_long_name_with_a_number_is_valid():
    check_name(unique_name("x" * 64, ["x" * 64]))
