"""Grippers that no scene names."""

import logging
from pathlib import Path

import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FINGERS = """<mujoco><worldbody><body name="palm"><geom size=".05"/>
  <body name="l"><joint name="{l}" type="slide" range="0 .04"/><geom size=".01"/></body>
  <body name="r"><joint name="{r}" type="slide" range="0 .04"/><geom size=".01"/></body>
  <body name="w"><joint name="wrist"/><geom size=".01"/></body>
</body></worldbody>{more}</mujoco>"""
COUPLED = """<equality><joint joint1="b" joint2="a"/></equality>
<actuator><motor name="a" joint="a"/><motor name="w" joint="wrist"/></actuator>"""
TENDON = """<tendon><fixed name="split"><joint joint="a" coef=".5"/><joint joint="b" coef=".5"/>
</fixed></tendon><actuator><position tendon="split" kp="10"/><motor joint="wrist"/></actuator>"""
NAMED = '<actuator><motor joint="left_jaw"/><motor joint="wrist"/></actuator>'
HAND = "<actuator>" + "".join(
    f'<motor joint="{name}"/>' for name in ("finger1", "finger2")
) + '<motor joint="wrist"/></actuator>'  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "more", "suggested"),
    [
        ("a", "b", COUPLED, "`gripper: a`"),
        ("a", "b", TENDON, "`gripper: split`"),
        ("left_jaw", "right_jaw", NAMED, "`gripper: left_jaw`"),
        ("finger1", "finger2", HAND, "gripper_controller (or finger2)"),
        ("a", "b", NAMED.replace("left_jaw", "a"), ""),
        ("steering", "b", COUPLED.replace('"a"', '"steering"'), ""),
    ],
)
def test_the_log_suggests_what_moves_like_a_gripper(
    tmp_path: Path, caplog, left: str, right: str, more: str, suggested: str
):
    caplog.set_level(logging.INFO)
    model = tmp_path / "g.xml"
    model.write_text(FINGERS.format(l=left, r=right, more=more))
    Simulation(load_scene(str(model)))
    assert suggested in caplog.text
    assert ("seems to have a gripper" in caplog.text) == bool(suggested)
    if not suggested:
        return
    caplog.clear()
    scene = tmp_path / "s.yaml"
    name = left if "split" not in suggested else "split"
    scene.write_text(f"robots: [{{name: g, model: g.xml, gripper: {name}}}]")
    Simulation(load_scene(str(scene)))
    assert "gripper" not in caplog.text


def test_no_gripper_is_suggested_for_two_hands(caplog):
    caplog.set_level(logging.INFO)
    Simulation(load_scene("humanoid"))
    assert "gripper" not in caplog.text
