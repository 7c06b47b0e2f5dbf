import pytest

from mujoco_ros.model.naming import check_name, to_name, unique_name


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


def test_a_name_in_use_gets_the_first_free_number():
    assert unique_name("box", []) == "box"
    assert unique_name("box", ["box"]) == "box_1"
    assert unique_name("box", ["box", "box_1", "box_3"]) == "box_2"


def test_a_long_name_with_a_number_is_valid():
    check_name(unique_name("x" * 64, ["x" * 64]))
