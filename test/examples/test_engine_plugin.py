"""The templates of engine plugins: built with CMake, and run in their scenes."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.engine_plugins import load_plugins, required_version
from mujoco_ros.model.urdf.exporting.meshes import mesh_triangles
from mujoco_ros.process.child_process import python_command
from mujoco_ros.sim.shared_memory.segment import row_arrays, row_pieces, row_words
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.saved_model import PresentModel
from mujoco_ros.sim.state.snapshots import Keyframes
from mujoco_ros.sim.state.state_vector import set_state, state_vector
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

TEMPLATE = Path(__file__).resolve().parents[2] / "examples" / "engine_plugin"
AMBIENT, RESISTANCE, CAPACITY, THERMAL_RESISTANCE, TORQUE_CONSTANT = 25.0, 0.5, 2.0, 2.0, 0.1
CURRENT = 4.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the template with its built library."""
    missing = [name for name in ("cmake", "c++") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    copy = tmp_path_factory.mktemp("plugin") / "engine_plugin"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("build"))
    for arguments in (
        ("-S", ".", "-B", "build", f"-DPYTHON={sys.executable}"),
        ("--build", "build"),
    ):
        subprocess.run(["cmake", *arguments], cwd=copy, check=True, capture_output=True)
    load_plugins(copy / "build")
    return copy


@pytest.fixture
def simulation(folder: Path) -> Simulation:
    return Simulation(load_scene(str(folder / "scene.yaml")))


def heat(simulation: Simulation, steps: int) -> float:
    """Take steps with the current on, and return the temperature after them."""
    simulation.data.ctrl[0] = CURRENT
    for _ in range(steps):
        assert simulation.step()
    return float(simulation.data.plugin_state[0])


def expected(seconds: float) -> float:
    """Return the solution of the thermal equation from the ambient temperature."""
    rise = THERMAL_RESISTANCE * RESISTANCE * CURRENT**2
    return AMBIENT + rise * (1.0 - math.exp(-seconds / (THERMAL_RESISTANCE * CAPACITY)))


def test_the_templates_are_built_for_the_running_mujoco(folder):
    libraries = {path.name: required_version(path) for path in (folder / "build").glob("*.so")}
    sources = {f"lib{path.stem}.so" for path in TEMPLATE.glob("*.cc")}
    assert len(sources) == 5
    assert libraries == dict.fromkeys(sources, mujoco.mj_versionString())


def test_the_folder_of_a_copy_may_have_spaces_in_its_name() -> None:
    command = ["make", "-n", "plugin", "PLUGIN=my plugin"]
    printed = subprocess.run(command, cwd=TEMPLATE.parents[1], capture_output=True, text=True)
    assert r"cmake --build my\ plugin/build" in printed.stdout


@pytest.fixture(scope="module")
def kinds(folder: Path) -> Simulation:
    """Two seconds of a leaf in the air, and of a ball above a tube."""
    simulation = Simulation(load_scene(str(folder / "kinds.yaml")))
    for _ in range(2000):
        assert simulation.step()
    return simulation


def test_a_passive_force_lets_a_leaf_fall_at_its_terminal_speed(kinds: Simulation) -> None:
    mass, coefficient = 0.1, 0.5
    speed = kinds.data.joint("kinds/fall").qvel[0]
    assert speed == pytest.approx(-math.sqrt(mass * 9.81 / coefficient), rel=1e-4)


def test_a_ball_falls_through_a_tube_that_is_wide_enough(folder: Path, kinds: Simulation) -> None:
    assert kinds.data.body("kinds/ball").xpos[2] == pytest.approx(0.05, abs=2e-3), "on the floor"
    (folder / "narrow.xml").write_text(
        (folder / "kinds.xml").read_text().replace('value="0.06"', 'value="0.04"')
    )
    scene = (folder / "kinds.yaml").read_text().replace("kinds.xml", "narrow.xml")
    (folder / "narrow.yaml").write_text(scene)
    narrow = Simulation(load_scene(str(folder / "narrow.yaml")))
    for _ in range(1000):
        assert narrow.step()
    assert narrow.data.body("kinds/ball").xpos[2] == pytest.approx(0.63, abs=0.01), "on its rim"


def test_a_provider_and_a_decoder_deliver_meshes(kinds: Simulation) -> None:
    def size(name: str) -> list[float]:
        return np.ptp(mesh_triangles(model, model.mesh(name).id).vertices, axis=0).tolist()

    model = kinds.model
    assert size("kinds/pyramid") == pytest.approx([0.2, 0.2, 0.3])
    wedge = np.sort(size("kinds/wedge"))
    assert model.mesh_facenum[model.mesh("kinds/wedge").id] == 4
    assert wedge[2] < 0.3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pyramid:0.3.obj", "pyramid:-1.obj", "'pyramid:-1.obj' cannot be read"),
        ("wedge.tri", "bad.tri", "needs nine numbers a line"),
        ('"inner" value="0.06"', '"inner" value="0.09"', "'kinds/tube'"),
    ],
)
def test_what_a_template_refuses_is_named(folder, old, new, message):
    (folder / "bad.tri").write_text("0 0 0 1 1 1 2 2\n")
    (folder / "wrong.xml").write_text((folder / "kinds.xml").read_text().replace(old, new))
    (folder / "wrong.yaml").write_text(
        (folder / "kinds.yaml").read_text().replace("kinds.xml", "wrong.xml")
    )
    with pytest.raises(UserInputError, match=message):
        Simulation(load_scene(str(folder / "wrong.yaml")))


def test_the_winding_warms_up_by_its_equation(simulation):
    assert simulation.data.plugin_state[0] == AMBIENT
    assert heat(simulation, 1500) == pytest.approx(expected(1.5), rel=1e-9)
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(TORQUE_CONSTANT * CURRENT)
    assert simulation.sample.sensordata[0] == pytest.approx(expected(1.499), rel=1e-9)


def test_its_state_is_reset_and_part_of_keyframes(simulation):
    keyframes = Keyframes(simulation)
    warm = heat(simulation, 400)
    keyframes.save("warm")
    hot = heat(simulation, 400)
    simulation.reset()
    assert simulation.data.plugin_state[0] == AMBIENT
    keyframes.load("warm")
    assert simulation.data.plugin_state[0] == warm
    assert heat(simulation, 400) == hot


def test_its_state_is_in_the_state_log(simulation, tmp_path):
    writer = StateLogWriter(tmp_path / "run.mjlog")
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    temperatures = []
    for _ in range(20):
        temperatures.append(simulation.data.plugin_state[0])
        heat(simulation, 1)
        ring.add_step()
    writer.close()
    segment = StateLog.open(tmp_path / "run.mjlog").segments[0]
    data = mujoco.MjData(segment.model)
    for row, temperature in enumerate(temperatures):
        segment.load_state(row, data)
        assert data.plugin_state[0] == temperature


def test_its_state_in_shared_memory_is_that_of_the_sample(simulation):
    heat(simulation, 10)
    data, sample, references = simulation.data, simulation.sample, simulation.references.values
    assert 25.0 < sample.plugin_state[0] < data.plugin_state[0]
    arrays = row_arrays(sample.state, data, references, sample)
    row = memoryview(bytearray(8 * row_words(arrays)))
    for part, own in row_pieces(row, arrays):
        part[:] = own
    other = mujoco.MjData(simulation.model)
    state = state_vector(simulation.model, other)
    for part, own in row_pieces(row, row_arrays(state, other, np.zeros_like(references))):
        own[:] = part
    set_state(simulation.model, other, state)
    assert other.plugin_state.tolist() == sample.plugin_state.tolist()
    assert other.ctrl.tolist() == [CURRENT]


def test_after_a_divergence_its_state_is_the_last_valid_one(simulation):
    simulation.on_divergence = "pause"
    heat(simulation, 100)
    temperature = float(simulation.sample.plugin_state[0])
    simulation.data.qvel[0] = np.nan
    assert not simulation.step()
    assert simulation.data.plugin_state[0] == temperature


def test_an_invalid_attribute_is_refused_with_its_name(folder, capfd):
    text = (folder / "thermal_motor.xml").read_text()
    (folder / "bad.xml").write_text(
        text.replace('"heat_capacity" value="2"', '"heat_capacity" value="0"')
    )
    spec = mujoco.MjSpec.from_file(str(folder / "bad.xml"))
    with pytest.raises(ValueError, match="plugin"):
        spec.compile()


def test_a_child_process_can_read_a_model_with_the_plugin(simulation, tmp_path):
    """Without the library, MuJoCo crashes the process that reads it."""
    mujoco.mj_saveModel(simulation.model, str(tmp_path / "model.mjb"))
    (tmp_path / "reader.py").write_text("""
import mujoco
def main(arguments):
    model = mujoco.MjModel.from_binary_path(arguments[0])
    print(mujoco.MjData(model).plugin_state)
    return 0
""")
    command = python_command("reader", str(tmp_path / "model.mjb"))
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{TEMPLATE.parents[1]}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stdout) == (0, f"{np.array([AMBIENT])}\n")


def test_its_attributes_are_changed_while_it_runs(simulation: Simulation) -> None:
    warm = heat(simulation, 400)
    attributes = {it.attribute: it for it in simulation.plant.plugin_attributes.values()}
    changes = {attributes["torque_constant"]: 0.25}
    simulation.plant.plugin_attributes.check(changes)
    simulation.plant.set_plugin_attributes(changes)
    assert simulation.data.plugin_state[0] == warm
    heat(simulation, 1)
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(0.25 * CURRENT)
    with pytest.raises(
        UserInputError, match=r"heat_capacity of '.*': the plugin example\.thermal_m"
    ):
        simulation.plant.plugin_attributes.check({attributes["heat_capacity"]: 0.0})


_URDF = """
<robot name="pole">
  <link name="base_link"><collision><geometry><mesh filename="{0}"/></geometry></collision></link>
  <link name="tip">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="{1}"/></geometry></collision>
  </link>
  <joint name="bend" type="continuous"><parent link="base_link"/><child link="tip"/></joint>
</robot>"""


def test_a_urdf_has_meshes_of_providers_and_decoders(folder: Path) -> None:
    (folder / "pole.urdf").write_text(_URDF.format("pyramid:0.3.obj", "wedge.tri"))
    model = Simulation(load_scene(str(folder / "pole.urdf"))).model
    heights = [np.ptp(mesh_triangles(model, mesh).vertices[:, 2]) for mesh in range(model.nmesh)]
    assert heights[0] == pytest.approx(0.3)
    (folder / "pole.urdf").write_text(_URDF.format("pyramid:0.3.obj", "kinds.yaml"))
    with pytest.raises(UserInputError, match=r"'\.yaml' is not one of \.dae"):
        load_and_step(folder / "pole.urdf")


def load_and_step(path: Path) -> Simulation:
    simulation = Simulation(load_scene(str(path)))
    assert simulation.step()
    return simulation


@pytest.mark.parametrize("suffix", [".xml", ".mjb"])
@pytest.mark.parametrize("scene", ["scene.yaml", "kinds.yaml"])
def test_a_saved_model_accelerates_as_the_present_one(
    folder: Path, tmp_path: Path, scene: str, suffix: str
) -> None:
    simulation = Simulation(load_scene(str(folder / scene)))
    present = simulation.plant.plugin_attributes.values()
    simulation.plant.set_plugin_attributes({key: 1.5 * value for key, value in present.items()})
    path = tmp_path / f"saved{suffix}"
    path.write_bytes(PresentModel.of(simulation, {}).content(suffix))
    saved = load_and_step(path)
    assert saved.plant.plugin_attributes.values() == simulation.plant.plugin_attributes.values()
    accelerations = []
    for model in (simulation.model, saved.model):
        data = mujoco.MjData(model)
        data.qvel[:], data.ctrl[:] = -2.0, CURRENT
        mujoco.mj_forward(model, data)
        accelerations.append(data.qacc)
    assert accelerations[1] == pytest.approx(accelerations[0], rel=1e-5, abs=1e-9)
