"""Every shipped controller continues while objects and a robot are spawned and deleted."""

from collections.abc import Iterator
from itertools import cycle

import pytest

from mujoco_ros.controllers.catalogue import load_table, names
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import PLANNERS, InlinePlanner
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import Simulation

POLE = """
<mujoco><worldbody><body name="pole">
  <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
</body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>
"""
FREE = "<mujoco><worldbody><body name='it'><freejoint/>{}</body></worldbody></mujoco>"
BOX, BALL = (
    FREE.format(geom) for geom in ("<geom type='box' size='.1 .1 .1'/>", "<geom size='.1'/>")
)
FIXED = "<mujoco><worldbody><body name='it'><geom size='.1'/></body></worldbody></mujoco>"
PERIOD_S = 0.3
SCENES = {"grasp_reflex": ("arm", 2.0)}
DURATIONS = {"stand": 2.2, "trot": 2.4, "trot_policy": 2.4, "walk": 3.0, "walk_grasp": 2.4}
"""Of the controllers that do not end by themselves [s]."""
FALLEN = 0.8


class Scene:
    """A controller in its scene, to which parts are added and from which they are removed."""

    def __init__(self, controller: str) -> None:
        self.trial = None if controller in SCENES else trial(controller)
        scene = (
            load_scene(SCENES[controller][0]) if self.trial is None else self.trial.scene_config()
        )
        self.conditions = {} if self.trial is None else self.trial.conditions(1)
        self.simulation = simulation = Simulation(scene, seed=1)
        self.controller = FsmController(load_table(controller), seed=1)
        for state, changes in self.trial.settings(self.conditions).items() if self.trial else ():
            self.controller.machine.configure(state, changes)
        planners: list[InlinePlanner] = []

        def planner(chain: Chain) -> InlinePlanner:
            planners.append(InlinePlanner(chain))
            return planners[-1]

        self.controller.store.provide(PLANNERS, planner)
        self.host = ControllerHost(simulation, self.controller)
        self.host.supervised.time_limit.limit_s = 100.0
        self.host.on_scene.append(lambda robot: [it.follow(robot.model) for it in planners])

    def change(self, *, add: str = "", name: str = "", remove: str = "") -> None:
        parts = ()
        if add:
            parts = (part_from_text(add, name=name, pose=PoseConfig(xyz=(3.0, 3.0, 0.2))),)
        simulation = self.simulation
        plant = simulation.build_plant(
            rebuild(simulation.assembly, add=parts, remove=[remove] if remove else [])
        )
        self.host.build(plant)
        simulation.switch_model(plant)

    def changes(self) -> Iterator[dict[str, str]]:
        """Yield changes after which the scene is as before."""
        yield {"add": BOX, "name": "first"}
        yield {"add": POLE, "name": "pole"}
        yield {"add": BALL, "name": "second", "remove": "first"}
        yield {"add": FIXED, "name": "first"}
        yield {"remove": "pole"}
        yield {"remove": "second"}
        yield {"remove": "first"}

    def bodies(self) -> set[str]:
        model = self.controller._robot_in_scene.model
        return {model.body(body).name for body in range(model.nbody)}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", names())
def test_a_controller_continues_while_the_scene_changes(name: str) -> None:
    scene = Scene(name)
    host, simulation, machine = scene.host, scene.simulation, scene.controller.machine
    end = DURATIONS.get(name, SCENES.get(name, ("", 40.0))[1])
    changes, due = cycle(scene.changes()), PERIOD_S
    bases = [robot.bases[0] for robot in simulation.layout.robots if robot.bases]
    heights = [simulation.data.qpos[it.qpos + 2] for it in bases]
    while simulation.time < end and machine.outcome is None:
        if simulation.time > due:
            due += PERIOD_S
            scene.change(**next(changes))
        assert host.tick()
        assert host.supervised.error == ""
        if scene.trial is not None:
            scene.trial.act(simulation, host.supervised.request, scene.conditions)
    model = simulation.model
    assert scene.bodies() == {model.body(body).name for body in range(model.nbody)}
    assert not machine.has_failed
    assert machine.outcome is not None or name in {*DURATIONS, *SCENES}
    for base, height in zip(bases, heights, strict=True):
        assert simulation.data.qpos[base.qpos + 2] > FALLEN * height
    host.close()
