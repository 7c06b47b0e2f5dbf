"""Images of the example scenes with extensions, after a time."""

from functools import partial
from pathlib import Path
from typing import Any

from scene_view import View, photograph
from std_srvs.srv import SetBool
from unitree_go.msg import LowCmd

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.sim.simulation import Simulation

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "extensions"
CROUCH = [0.0, 1.1, -2.1] * 4
LIFTED_S = 4.0
_view = partial(View, size=(400, 300), elevation=-14.0)
VIEWS = (
    (_view(name="ext_wind", scene="wind", lookat=(0.0, 0.0, 1.1), distance=2.4, azimuth=75.0), 4.0),
    (
        _view(
            name="ext_conveyor_belt",
            scene="conveyor_belt",
            lookat=(0.3, 0.0, 0.4),
            distance=3.4,
            azimuth=115.0,
        ),
        1.8,
    ),
    (
        _view(
            name="ext_suction_cup",
            scene="suction_cup",
            lookat=(0.0, 0.0, 0.55),
            distance=2.3,
            azimuth=110.0,
        ),
        LIFTED_S,
    ),
    (
        _view(
            name="ext_battery",
            scene="battery",
            lookat=(0.0, 0.0, 0.2),
            distance=1.6,
            azimuth=140.0,
        ),
        13.0,
    ),
    (
        _view(
            name="ext_thruster",
            scene="thruster",
            lookat=(0.0, 0.0, 0.55),
            distance=1.6,
            azimuth=140.0,
        ),
        1.0,
    ),
    (
        _view(
            name="ext_contact_groups",
            scene="contact_groups",
            lookat=(0.0, 0.0, 0.3),
            distance=1.9,
            azimuth=120.0,
        ),
        1.0,
    ),
    (
        _view(
            name="ext_unitree_go",
            scene="unitree_go",
            lookat=(0.0, 0.0, 0.24),
            distance=1.5,
            azimuth=140.0,
        ),
        2.0,
    ),
)
"""Views of the examples, and the time after which they are taken [s]."""


def draw_example(view: View, seconds: float, path: Path) -> None:
    """Simulate an example with its extensions for a time, and write the view to `path`."""
    simulation = Simulation(read_scene(EXAMPLES / f"{view.scene}.yaml"))
    extensions = ExtensionSet(simulation)
    its: list[Any] = [runner.extension for runner in extensions.runners]
    if view.scene == "unitree_go":
        command = LowCmd()
        for motor, q in zip(command.motor_cmd, CROUCH, strict=False):
            motor.mode, motor.q, motor.kp, motor.kd = 1, q, 100.0, 4.0
        its[0].lowcmd(command)
    if view.scene == "suction_cup":
        its[0].grip(SetBool.Request(data=True), SetBool.Response())
    if view.scene == "thruster":
        for extension in its:
            extension.state["command"][0] = 3.3
    while simulation.time < seconds:
        if view.scene == "suction_cup":
            share = min(1.0, 2.0 - abs(4.0 * simulation.time / LIFTED_S - 2.0))
            simulation.references.q[:2] = 0.4 * max(0.0, 1.0 - share), 0.35 + 0.35 * share
        extensions.before_step()
        simulation.step()
        extensions.after_step()
    extensions.close()
    photograph(simulation, view, path)
