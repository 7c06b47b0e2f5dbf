"""A hosted controller while the model is switched."""

from pathlib import Path

import pytest
from sample_states import SEEN, controller, in_turn

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import find_robot
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.parts import ScenePart, part_from_text
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.sim.simulation import Simulation

POLE = """
<mujoco>
  <worldbody><body name="pole">
    <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
  </body></worldbody>
  <actuator><motor joint="hinge"/></actuator>
</mujoco>
"""
BOX = "<mujoco><worldbody><body name='it'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
FAR = PoseConfig(xyz=(20.0, 20.0, 5.0))
RAMP = in_turn("{class: Ramp, duration: 5.0, speed: 0.2}")


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    """Two poles."""
    (tmp_path / "pole.xml").write_text(POLE)
    (tmp_path / "gains.yaml").write_text("hinge: {kp: 100, kd: 5}\n")
    robots = tuple(
        RobotConfig(
            name=name, model="pole.xml", gains="gains.yaml", pose=PoseConfig(xyz=(x, 0.0, 0.0))
        )
        for name, x in (("left", 0.0), ("right", 1.0))
    )
    return Simulation(
        SceneConfig(
            name="poles", folder=tmp_path, robots=robots, physics=PhysicsConfig(timestep=0.001)
        )
    )


@pytest.fixture
def hosted(simulation: Simulation) -> tuple[ControllerHost, FsmController, list[Observation]]:
    """A controller of the right pole, and its observations."""
    seen: list[Observation] = []
    moves = controller(RAMP, seen=seen)
    return ControllerHost(simulation, moves, "right"), moves, seen


def change(simulation: Simulation, *, add=(), remove=(), fresh: bool = False) -> None:
    plant = simulation.build_plant(rebuild(simulation.assembly, add=add, remove=remove))
    simulation.switch_model(plant, fresh=fresh)


def run(host: ControllerHost, steps: int) -> None:
    for _ in range(steps):
        assert host.step()


def part(text: str, name: str) -> ScenePart:
    return part_from_text(text, name=name, pose=FAR)


def bodies(controller: FsmController) -> set[str]:
    """Return the body names of a controller's private model."""
    model = controller._robot.model
    return {model.body(i).name for i in range(model.nbody)}


def test_a_controller_continues_in_another_model_and_gets_it_after_a_reset(simulation, hosted):
    host, moves, seen = hosted
    run(host, 100)
    change(simulation, add=[part(BOX, "box")], remove=["left"])
    run(host, 100)
    assert host.supervised.error == ""
    assert [observation.time for observation in seen] == pytest.approx(
        [0.005 * i for i in range(40)]
    )
    assert set(seen[19].objects) == set()
    assert set(seen[20].objects) == {"box"}
    assert simulation.references.q[0] == pytest.approx(0.2 * (0.199 - 0.005), abs=1e-3)
    assert "box/it" not in bodies(moves)
    context = moves._context
    assert context.robot is moves._robot, "states may have addresses in its model"
    model = context.robot_in_scene.model
    assert {model.body(i).name for i in range(model.nbody)} == {"world", "right/pole", "box/it"}
    assert context.robot_in_scene.qpos.tolist() == [0] != context.robot.qpos.tolist()
    simulation.reset()
    assert {"box/it", "right/pole"} <= bodies(moves)
    assert "left/pole" not in bodies(moves)
    run(host, 100)
    assert host.supervised.state == "S0"


def test_a_model_that_is_copied_in_advance_has_the_values_of_the_running_one(simulation, hosted):
    host, moves, _ = hosted
    run(host, 10)
    plant = simulation.build_plant(rebuild(simulation.assembly, add=[part(BOX, "box")]))
    host.build(plant)
    simulation.model.geom_size[0] *= 2.0
    simulation.switch_model(plant)
    run(host, 10)
    model = moves._context.robot_in_scene.model
    assert model is not simulation.model
    assert model.geom_size.tolist() == simulation.model.geom_size.tolist()


def test_a_controller_without_its_robot_stops_until_a_robot_has_that_name(simulation, hosted):
    host, _, seen = hosted
    run(host, 50)
    change(simulation, remove=["right"])
    run(host, 50)
    assert host.supervised.error == "robot 'right' was removed"
    assert len(seen) == 10
    simulation.reset()
    run(host, 50)
    assert host.supervised.error == "robot 'right' not found; robots with joints: left"
    change(simulation, add=[part(POLE, "right")])
    run(host, 50)
    assert host.supervised.state == "error", "only a reset restarts it"
    simulation.reset()
    run(host, 50)
    assert host.supervised.error == ""
    assert len(seen) == 20


def test_a_fresh_model_is_a_reset(simulation, hosted):
    host, moves, _ = hosted
    run(host, 50)
    change(simulation, add=[part(BOX, "box")], fresh=True)
    assert "box/it" in bodies(moves)
    run(host, 50)
    assert host.supervised.state == "S0"
    assert simulation.references.q[1] == pytest.approx(0.2 * 0.044, abs=1e-3)


def test_a_controller_that_cannot_be_configured_for_another_model_is_stopped(
    simulation, hosted, monkeypatch
):
    host, moves, _ = hosted
    run(host, 10)

    def fail(_robot) -> None:
        raise AssertionError  # without a message

    monkeypatch.setattr(moves, "configure", fail)
    change(simulation, add=[part(BOX, "box")], fresh=True)
    assert host.supervised.error == "AssertionError()"
    run(host, 10)
    monkeypatch.undo()
    simulation.reset()
    run(host, 10)
    assert host.supervised.state == "S0"


def test_one_of_several_robots_must_be_named(simulation):
    with pytest.raises(
        UserInputError, match="a controller commands one robot; choose one of: left, right"
    ):
        find_robot(simulation.plant)
    assert find_robot(simulation.plant, "right") == 1


def test_the_store_has_what_the_host_provides(simulation, hosted):
    _, moves, _ = hosted
    assert {"gains/get", "gains/set", "pose/set", "image/get", SEEN.name} == set(moves.store.names)
