"""Description of a scene in the log."""

import json

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.segment_header import assembly, describe
from mujoco_ros.sim.state_log.writer import describe_robots

ROBOT = """
<mujoco><worldbody>
  <body name="link"><joint/><geom size="0.1"/><camera name="eye"/></body>
</worldbody></mujoco>"""
SCENE = """
robots:
  - name: arm
    model: robot.xml
    cameras:
      - {name: eye, resolution: [64, 48], rate: 5, noise: {colour: 2}}
      - {name: new, body: link, pose: {xyz: [0, 0, 1]}, intrinsics: {fx: 9, fy: 9, cx: 3, cy: 4}}
    lidars: [{name: top, body: link, vertical: {samples: 4, max: 0.3}, groups: [0, 3]}]
cameras: [{name: high, body: world, depth_encoding: 16UC1}]
lidars: [{name: wall, body: world, range: {max: 5}}]
"""


def test_cameras_and_lidars_are_read_as_they_were_written(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "scene.yaml").write_text(SCENE)
    config = read_scene(tmp_path / "scene.yaml")
    simulation = Simulation(config)
    header = json.loads(json.dumps(describe(simulation.plant, describe_robots(simulation.plant))))
    read = assembly(header, simulation.model)
    assert read.config.robots[0].cameras == config.robots[0].cameras
    assert read.config.robots[0].lidars == config.robots[0].lidars
    assert (read.config.cameras, read.config.lidars) == (config.cameras, config.lidars)
    layout, before = lay_out(read), lay_out(assemble(config))
    assert layout.every_camera == before.every_camera
    assert layout.every_lidar == before.every_lidar
