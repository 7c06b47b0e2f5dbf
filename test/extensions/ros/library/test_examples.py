"""All shipped extensions at once: the same bits twice, and what every one of them has."""

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from example_runs import Example
from extension_runs import EXAMPLES, ExtensionRun, write_all_examples
from simulation_interfaces.msg import Result
from simulator_client import PAUSED, SimulatorClient
from simulators import SimulatorLauncher
from std_srvs.srv import SetBool

from mujoco_ros.extensions.interface import SHIPPED, load_extension
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state.snapshots import Keyframes
from mujoco_ros.sim.state.state_vector import INPUTS, state_fields, state_vector
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

ARM = """
world: package://mujoco_ros/urdf_mjcf/worlds/ground.xml
robots:
  - name: arm
    namespace: ""
    model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
    keyframe: home
    gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml
    gripper: left_finger_joint
objects:
  - name: table
    model: package://mujoco_ros/urdf_mjcf/objects/table.xml
    pose: {xyz: [0.62, 0.0, 0.0]}
  - name: box
    model: package://mujoco_ros/urdf_mjcf/objects/box.xml
    pose: {xyz: [0.35, 0.2, 0.315]}
physics: {timestep: 0.001}
"""
STONE = """<mujoco model="stone"><worldbody><body pos="0 0 3"><freejoint/><geom size=".05"/></body>
</worldbody></mujoco>"""
MOST_LINES = 52


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[], ExtensionRun]]:
    """Begin runs of all examples with the vacuum on and thrust of the drone."""
    scene, runs = write_all_examples(tmp_path, ARM), []

    def begin() -> ExtensionRun:
        run = ExtensionRun(read_scene(scene), seed=5)
        run.extension("gantry/cup").grip(SetBool.Request(data=True), SetBool.Response())
        for name in ("front_left", "front_right", "rear_left", "rear_right"):
            run.extension(f"drone/{name}").state["command"][0] = 3.2
        down = run.simulation.joints.names.index("gantry/down")
        run.simulation.references.q[down] = 0.7
        runs.append(run)
        return run

    yield begin
    for it in runs:
        it.close()


def test_all_extensions_have_the_same_bits_twice_across_a_spawn_and_a_keyframe(
    run: Callable[[], ExtensionRun],
) -> None:
    results = []
    for _ in range(2):
        it = run()
        assert len({runner.config.use for runner in it.set.runners}) >= len(SHIPPED) - 1
        it.step(0.4)
        it.change(add=[part_from_text(STONE, name="stone")])
        it.step(0.05)
        it.change(remove=["stone"])
        keyframes = Keyframes(it.simulation)
        keyframes.save("here")
        results.append(it.step(0.15))
        it.step(0.05)
        keyframes.load("here")
        results.append(it.step(0.15))
        assert it.extension("gantry/cup").state["held"][0]
    assert len(set(results)) == 1


@pytest.mark.parametrize("name", list(SHIPPED))
def test_a_row_of_a_log_stepped_once_is_the_next_row(tmp_path: Path, name: str) -> None:
    if name == "unitree_go":
        pytest.importorskip("unitree_go", reason="the messages are not installed here")
    path = tmp_path / "run.mjlog"
    run = ExtensionRun(name, seed=5)
    if name == "suction_cup":
        run.extension().grip(SetBool.Request(data=True), SetBool.Response())
        run.simulation.references.q[run.simulation.joints.names.index("gantry/down")] = 0.7
    if name == "thruster":
        for runner in run.set.runners:
            runner.extension.state["command"][0] = 3.2
    writer, ring = StateLogWriter(path), RingBuffer(run.simulation.plant, 1)
    writer.add(ring)
    for _ in range(300 if name == "suction_cup" else 120):  # until it holds the parcel
        run.step(run.simulation.model.opt.timestep)
        ring.add_step()
    writer.close()
    run.close()
    log = StateLog.open(path)
    other = ExtensionRun(name, seed=6)
    model, data, states = other.simulation.model, other.data, other.simulation.plant.extensions
    compared = [it for it in state_fields(model, data) if not it.bit & INPUTS]
    for index in range(len(log) - 1):
        mujoco.mj_resetData(model, data)
        log.load_state(index, data)
        log.load_extensions(index, states)
        for runner in other.set.runners:
            runner.reset()
        mujoco.mj_step(model, data)
        other.set.after_step()
        data.time = log.time[index + 1]  # the simulation does not sum timesteps
        other.set.before_step()
        state, row = state_vector(model, data), log.row(index + 1)
        for field in compared:
            assert field.view(state).tobytes() == row[field.name].tobytes(), field.name
        for key, array in states.arrays.items():
            assert (array == row[key]).all(), key
    other.close()
    if name == "suction_cup":
        assert log.extension("gantry/cup")[-1, 1], "it holds the parcel"


STEPS = 300
HOSTED = {"controller": "pick_place", "controller_robot": "arm"}
LOCKSTEP = {"lockstep_timeout": 60.0}
KINDS = {"hosted": HOSTED, "lockstep": LOCKSTEP}
MEASURED = {"measured_qpos": "qpos", "true_sensordata": "sensordata"}
"""Fields of a log with realism, and those from which they differ."""
REALISM = {"realism": "servo_1khz_ethercat,mems_imu"}


@pytest.mark.parametrize(("kind", "realism"), [("hosted", REALISM), ("lockstep", {})])
def test_two_simulators_with_all_extensions_have_the_same_bits(
    start: SimulatorLauncher, tmp_path: Path, kind: str, realism: dict[str, str]
) -> None:
    scene = write_all_examples(tmp_path, ARM)
    logs = [tmp_path / "one.mjlog", tmp_path / "other.mjlog"]
    for log in logs:
        simulator = SimulatorClient(
            start,
            scene=scene,
            state_log=log,
            seed=5,
            fresh_interpreter=kind == "hosted" and log is logs[0],  # with another hash seed
            **KINDS[kind],
            **realism,
        )
        if kind == "hosted":
            assert simulator.set_state(PAUSED).result == Result.RESULT_OK
            assert simulator.call("ResetSimulation").result.result == Result.RESULT_OK
            grip = simulator.listener.node.create_client(SetBool, "/gantry/cup/grip")
            assert simulator.listener.spin_until(grip.service_is_ready)
            assert simulator.listener.result(grip.call_async(SetBool.Request(data=True))).success
            assert simulator.step(STEPS).result == Result.RESULT_OK
        else:
            example = Example(
                tmp_path, simulator.simulator.domain, "08_lockstep.py", "--seconds", "0.5"
            )
            assert example.outcome().code == 0
        assert simulator.simulator.stop() == 0
        assert "is disabled" not in simulator.simulator.log
    one, other = (fields(log) for log in logs)
    assert one == other
    different = {it for it, other in MEASURED.items() if it in one and one[it] != one[other]}
    assert different == (set(MEASURED) if realism else set())
    replayed = Playback(StateLog.open(logs[0]), on_segment=lambda _: None)
    segment = replayed.segment
    for row in range(len(segment.time)):
        assert replayed.step()
        assert replayed.sample.qpos.tobytes() == segment.qpos[row].tobytes()


def fields(path: Path) -> dict[str, bytes]:
    """Return the fields of a log since the last reset, with the state of all extensions."""
    (segment,) = StateLog.open(path).segments
    first = int(np.flatnonzero(segment.time == 0.0)[-1])
    rows = {name: getattr(segment, name)[first : first + STEPS] for name in segment.fields}
    assert sum(name.startswith("extension ") for name in rows) >= 9
    assert all(len(array) == STEPS for array in rows.values())
    assert all(np.isfinite(array).all() for array in rows.values())
    return {name: array.tobytes() for name, array in rows.items()}


@pytest.mark.parametrize("name", list(SHIPPED))
def test_every_extension_has_an_example_and_at_most_52_lines_of_code(name: str) -> None:
    assert (EXAMPLES / f"{name}.yaml").is_file()
    if name == "unitree_go":
        pytest.importorskip("unitree_go", reason="the messages are not installed here")
    cls = load_extension(name)
    source = inspect.getsource(cls.Settings) + inspect.getsource(cls)
    strings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    code = [
        text
        for number, text in enumerate(source.splitlines(), start=1)
        if text.strip() and number not in strings and not text.lstrip().startswith("#")
    ]
    assert len(code) <= MOST_LINES
