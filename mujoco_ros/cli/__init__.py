"""Executables: the command lines of the package."""

from mujoco_ros.cli.startup import prepare_program

prepare_program()
