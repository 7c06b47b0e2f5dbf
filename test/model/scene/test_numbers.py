"""Numbers that MuJoCo's compiler accepts, and that no robot has."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.parts import part_from_text

BODY = "<mujoco><worldbody><body name='b' {}><joint name='j' {}/>{}</body></worldbody></mujoco>"
BALL = "<geom name='g' size='.1' mass='{}'/>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BODY.format("", "", BALL.format("1e300")), "mass of body 'b' is 1e\\+300; at most 1e"),
        (BODY.format("pos='1e300 0 0'", "", BALL.format("1")), "pos of body 'b'"),
        (BODY.format("", "armature='1e300'", BALL.format("1")), "armature of joint 'j'"),
        (BODY.format("", "damping='1e16'", BALL.format("1")), "damping of joint 'j'"),
        (BODY.format("", "", "<geom name='g' size='1e20' mass='1'/>"), "of (body 'b'|geom 'g')"),
    ],
)
def test_huge_numbers_are_errors(text: str, message: str):
    part = part_from_text(text, name="x")
    with pytest.raises(UserInputError, match=message):
        assemble_part(part)


def test_large_numbers_are_no_errors():
    text = BODY.format("", "armature='1e3'", BALL.format("1e6"))
    assert assemble_part(part_from_text(text, name="x")).model.body_mass[1] == 1e6
