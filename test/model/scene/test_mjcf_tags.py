"""Tags of an XML text."""

import pytest

from mujoco_ros.model.scene.mjcf_checks import Tag, tags


def shown(text: str) -> list[str]:
    return [f"{'+' * tag.begins}{'-' * tag.ends}{tag.name}" for tag in tags(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a><b/></a>", ["+a", "+-b", "-a"]),
        ("<?xml version='1'?><!DOCTYPE x><!-- <c> -- --><a/>", ["+-a"]),
        ("<a x='>' y=\"<b/>\"/><![CDATA[<c>]]><d >", ["+-a", "+d"]),
        ("<a/> <!-- <b/>", ["+-a"]),
        ("<a/> <b x='1/> <c/>", ["+-a"]),
        ("hello", []),
        ("", []),
    ],
)
def test_comments_instructions_and_quotations_are_no_tags(text: str, found: list[str]) -> None:
    assert shown(text) == found


def test_a_tag_has_attributes_without_their_entities() -> None:
    (tag,) = tags("<model name = 'k' file=\"a&#47;b&amp;c.xml\" />")
    assert (tag.name, tag.begins, tag.ends) == ("model", True, True)
    assert tag.attributes == {"name": "k", "file": "a/b&c.xml"}
    assert Tag("a", begins=True, ends=False, text="").attributes == {}
