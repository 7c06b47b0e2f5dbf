"""A scene with a belt and a box on it."""

from pathlib import Path

BELT = """<mujoco model="line"><worldbody><body name="band"><joint name="belt" type="slide"
axis="1 0 0"/><geom type="box" size="3 .3 .05" friction="1"/></body></worldbody></mujoco>"""
BOX = """<mujoco model="box"><worldbody><body name="box"><freejoint/><geom type="box"
size=".05 .05 .05" density="500"/></body></worldbody></mujoco>"""
SCENE = """
robots:
  - {name: line, model: belt.xml}
objects:
  - {name: box, model: box.xml, pose: {xyz: [-1.0, 0.0, 0.1]}}
physics: {timestep: 0.002, gravity: [0.0, 0.0, -9.81]}
"""


def write_belt_scene(folder: Path, extensions: str = "") -> Path:
    """Write the files of the scene to a folder, and return the scene."""
    (folder / "belt.xml").write_text(BELT)
    (folder / "box.xml").write_text(BOX)
    (folder / "line.yaml").write_text(SCENE + extensions)
    return folder / "line.yaml"
