from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.identification.parameters import unknowns_of
from mujoco_ros.identification.robot_model import IdentifiedRobot, find_robot_config
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.config import load_scene


def test_one_of_several_robots_must_be_named():
    scene = load_scene("handover")
    with pytest.raises(UserInputError, match=r"has the robots .*; name one with --robot"):
        find_robot_config(scene, None)
    name = scene.robots[1].name
    assert find_robot_config(scene, name).name == name
    with pytest.raises(UserInputError, match=f"'middle'.*{name}"):
        find_robot_config(scene, "middle")


def test_a_floating_base_is_an_error():
    scene = load_scene("quadruped")
    with pytest.raises(UserInputError, match="'quadruped' has a floating base"):
        IdentifiedRobot(scene, scene.robots[0])


def test_the_model_has_one_robot_and_no_objects():
    scene = load_scene("arm")
    robot = IdentifiedRobot(scene, scene.robots[0])
    assert robot.model.nq == 8
    assert robot.driven.sum() == 6


def test_the_delay_of_the_scene_is_one_that_can_be_fitted():
    scene = load_scene("arm")

    def start(delay):
        entry = {"match": "elbow_joint", "delay": delay}
        robot = replace(scene.robots[0], realism=RealismConfig(actuators={"bus": entry}))
        found = IdentifiedRobot(scene, robot)
        return unknowns_of(found, found.index(["elbow_joint"], "arm"), np.ones(1)).vector[0]

    assert start(0.01) > start(0.0) == 0.0
    with pytest.raises(UserInputError, match=r"delays the commands of robot 'arm' by 0\.2 s"):
        start(0.2)
