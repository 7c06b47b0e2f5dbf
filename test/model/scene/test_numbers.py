"""Numbers that MuJoCo's compiler accepts, and that no robot has."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.parts import part_from_text

BODY = "<mujoco><worldbody><body name='b' {}><joint name='j' {}/>{}</body></worldbody></mujoco>"
BALL = "<geom name='g' size='.1' mass='{}'/>"


def plain(element: str) -> str:
    return (
        f"<mujoco>{element}<worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )


def actuated(actuator: str) -> str:
    body = BODY.format("", "", BALL.format("1"))
    return body.replace("</worldbody>", f"</worldbody><actuator>{actuator}</actuator>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BODY.format("", "", BALL.format("1e300")), "mass of body 'b' is 1e\\+300; at most 1e"),
        (BODY.format("pos='1e300 0 0'", "", BALL.format("1")), "pos of body 'b'"),
        (BODY.format("", "armature='1e300'", BALL.format("1")), "armature of joint 'j'"),
        (BODY.format("", "damping='1e16'", BALL.format("1")), "damping of joint 'j'"),
        (
            BODY.format("", "", "<geom name='g' size='1e20' mass='1'/>"),
            "of (body 'b'|geom 'g'|joint 'j')",
        ),
        (BODY.format("", "ref='1e300'", BALL.format("1")), "qpos0 of joint 'j' is 1.*; at most"),
        (BODY.format("", "range='1 -1'", BALL.format("1")), "range of joint 'j' is from 1.* to -"),
        (BODY.format("", "solreflimit='1e300 1'", BALL.format("1")), "solref of joint 'j'"),
        (BODY.format("", "", "<geom name='g' size='1' friction='1e300'/>"), "friction of geom 'g'"),
        (BODY.format("", "", "<geom name='g' size='1' margin='1e300'/>"), "margin of geom 'g'"),
        (actuated("<position name='a' joint='j' kp='1e300'/>"), "biasprm of actuator 'a'"),
        (actuated("<motor name='a' joint='j' ctrlrange='1 -1'/>"), "ctrlrange of actuator 'a'"),
        (plain("<option gravity='1e300 0 0'/>"), "option 'gravity' of the model is 1e\\+300 "),
        (plain("<option impratio='1e300'/>"), "option 'impratio' of the model is"),
        (plain("<option timestep='-1'/>"), "option 'timestep' of the model is -1; it must be pos"),
        (plain("<option o_margin='-1e300'/>"), "option 'o_margin' of the model is"),
        (
            plain(
                "<asset><mesh name='m' scale='1e300 1 1' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
            ),
            "of (mesh 'm'|the model)",
        ),
        (
            plain("<asset><hfield name='f' nrow='3' ncol='3' size='1e300 1 1 1'/></asset>"),
            "size of hfield 'f'",
        ),
    ],
)
def test_huge_numbers_are_errors(text: str, message: str):
    part = part_from_text(text, name="x")
    with pytest.raises(UserInputError, match=message):
        assemble_part(part)


def test_large_numbers_are_no_errors():
    text = BODY.format("", "armature='1e3'", BALL.format("1e6"))
    assert assemble_part(part_from_text(text, name="x")).model.body_mass[1] == 1e6


@pytest.mark.parametrize("number", ["nan", "-NaN", "inf", "-inf", "infinity"])
@pytest.mark.parametrize(
    ("element", "culprit"),
    [
        ("<option wind='0 {} 0'/>", "wind of <option>"),
        ("<option timestep='{}'/>", "timestep of <option>"),
        ("<compiler boundmass='{}'/>", "boundmass of <compiler>"),
        ("<asset><hfield nrow='2' ncol='1' size='1 1 1 1' elevation='1 {}'/></asset>", "elevation"),
        ("<asset><mesh name='m' scale='{} 1 1'/></asset>", "scale of <mesh>"),
        ("<contact><pair geom1='a' geom2='b' margin='{}'/></contact>", "margin of <pair>"),
        ("<default><geom fluidcoef='{} 0 0 0 0'/></default>", "fluidcoef of <geom>"),
    ],
)
def test_numbers_that_are_not_finite_are_errors(element: str, culprit: str, number: str) -> None:
    with pytest.raises(UserInputError, match=f"{culprit}.* not finite: '.*{number}.*'"):
        part_from_text(plain(element.format(number)), name="x")


@pytest.mark.parametrize(
    "text",
    [
        BODY.format("", "range='-1 inf'", BALL.format("1")),
        BODY.format("", "range='-1 1.7976931348623157e308'", BALL.format("1")),
        BODY.format("", "", BALL.format("1")).replace("'b'", "'nan'"),
        plain("<custom><text name='t' data='to inf and beyond'/></custom>"),
    ],
)
def test_limits_may_be_infinite_and_texts_may_be_any(text: str) -> None:
    assemble_part(part_from_text(text, name="x"))
