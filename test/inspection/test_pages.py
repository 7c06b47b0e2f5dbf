"""The pages of a report."""

import pytest

from mujoco_ros.inspection.images import robot_images
from mujoco_ros.inspection.report import inspect
from mujoco_ros.inspection.sections import Section, html_page, sections, text_page
from mujoco_ros.rendering.gl import RenderingError

PARTS = [
    Section(title="First", lines=("a < b",)),
    Section(title="Table", header=("name", "n"), rows=(("long name", "1"), ("x", "22"))),
]


def test_tables_have_columns():
    assert text_page(PARTS) == (
        "First\n-----\na < b\n\nTable\n-----\nname       n\nlong name  1\nx          22\n"
    )


def test_html_is_escaped_and_contains_its_images():
    html = html_page(PARTS, [("from <here>", b"png")], "")
    assert "a &lt; b" in html
    assert 'alt="from &lt;here&gt;" src="data:image/png;base64,cG5n"' in html
    assert html.count("<tr>") == html.count("</tr>") == 3
    assert "http" not in html


def test_every_part_of_a_model_is_on_the_page(pendulum):
    report, _ = inspect(str(pendulum), {"MuJoCo": "4.0.0"})
    text = text_page(list(sections(report)))
    for words in (
        *("MuJoCo 4.0.0", "7.524 kg (7 kg in the file)", "swing moved farthest", "derived from"),
        *("/joint_commands (sensor_msgs/msg/JointState): all joints", "from the solid collision"),
        *("Bodies that overlap at the start", "<unheard_of>", "position, velocity, effort"),
        "the solver Newton (dense) agrees with CG (dense)",
    ):
        assert words in text


def test_images_show_the_robot(pendulum):
    _, plant = inspect(str(pendulum), {})
    try:
        found = dict(robot_images(plant.model, plant.data, plant.layout))
    except RenderingError as error:
        pytest.skip(str(error))
    assert len(found) == 4
    assert all(png.startswith(b"\x89PNG") for png in found.values())
    # The only shape is a collision shape.
    assert len({len(png) for png in found.values()}) > 1
