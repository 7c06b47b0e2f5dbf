from pathlib import Path

import pytest

from mujoco_ros.model.naming import header_comment, root_element
from mujoco_ros.model.scene.config import shipped_scenes
from mujoco_ros.model.scene.worlds import shipped_models, shipped_worlds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<mujoco model="box"/>', ("mujoco", "box")),
        ('<?xml version="1.0"?><!-- <robot> --><robot name="my robot">', ("robot", "my_robot")),
        ('<mujoco model="2nd">', ("mujoco", "model_2nd")),
        ("<mujoco><worldbody>", ("mujoco", "")),
        ("<sdf/>", ("sdf", "")),
        ("robots: []", ("", "")),
        ("", ("", "")),
        ("\0", ("", "")),
    ],
)
def test_the_first_element_has_kind_and_name(text, found):
    assert root_element(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a><!-- A box. It is 0.5 m wide. --></a>", "A box."),
        ("<a><!-- 1.5 m\n  tall --></a>", "1.5 m tall"),
        ("<a/>", ""),
        ("# An arm.\n# And more.\nrobots: []\n", "An arm."),
        ("robots: []\n", ""),
    ],
)
def test_the_first_sentence_of_the_first_comment_is_the_description(text, found):
    assert header_comment(text) == found


@pytest.mark.parametrize(
    "path",
    [*shipped_scenes().values(), *shipped_worlds(), *shipped_models()],
    ids=lambda path: path.name,
)
def test_every_shipped_file_written_by_hand_has_a_description(path: Path):
    if path.suffix != ".urdf":  # those are exported
        assert len(header_comment(path.read_text())) > 10
