import stat
from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.recording.ros.state_logging import StateLogging
from mujoco_ros.sim.settings.element_properties import get_property, properties
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log import writer as ring_module
from mujoco_ros.sim.state_log.reader import StateLog


class Logged:
    """A simulation whose steps are published and logged, and the parameters of the log."""

    def __init__(self, file: str = "", every: int = 1, folder: str = "") -> None:
        self.simulation = Simulation(load_scene("arm"))
        self.values = {"state_log": file, "state_log_every": every, "output_folder": folder}
        self.logging = StateLogging(self.simulation, self.values)

    def step(self, count: int) -> None:
        self.simulation.commands.drain()
        for _ in range(count):
            self.simulation.step()
            self.logging.after_step()

    def set(self, **values: object) -> None:
        self.logging.check_parameters(values)
        self.values |= values
        command = self.logging.apply_parameters(values)
        if command is not None:
            self.simulation.commands.submit(command)

    def switch_model(self, assembly: Assembly | None = None) -> None:
        """Change the model, or build it again."""
        plant = self.simulation.build_plant(assembly or self.simulation.assembly)
        self.logging.build(plant)
        self.logging.prepare(plant)
        self.simulation.switch_model(plant)
        self.logging.commit()
        self.logging.finish()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.mjlog"


def test_each_step_is_logged(path):
    logged = Logged(str(path))
    logged.step(20)
    logged.logging.close()
    assert len(StateLog.open(path)) == 20


def test_without_a_file_nothing_is_logged(tmp_path):
    logged = Logged()
    logged.step(5)
    logged.logging.close()
    assert list(tmp_path.iterdir()) == []
    assert logged.logging.report().text == "off"


def test_it_is_switched_on_and_off_while_the_simulation_runs(path, tmp_path):
    logged = Logged(folder=str(tmp_path))
    logged.step(5)
    logged.set(state_log=str(path))
    logged.step(10)
    writer = logged.logging._writer
    assert writer is not None
    logged.set(state_log="")
    writer.close()
    logged.step(5)
    logged.set(state_log=str(tmp_path / "other.mjlog"))
    logged.step(3)
    logged.logging.close()
    first, second = StateLog.open(path), StateLog.open(tmp_path / "other.mjlog")
    assert (len(first), first.time[0]) == (10, pytest.approx(0.005))
    assert (len(second), second.time[0]) == (3, pytest.approx(0.020))


def test_another_number_of_steps_begins_a_segment(path):
    logged = Logged(str(path))
    logged.step(10)
    logged.set(state_log_every=5)
    logged.step(10)
    logged.logging.close()
    assert [len(segment) for segment in StateLog.open(path).segments] == [10, 2]


def test_setting_a_parameter_to_its_value_changes_nothing(path):
    logged = Logged(str(path))
    logged.step(5)
    logged.set(state_log=str(path), state_log_every=1)
    logged.step(5)
    logged.logging.close()
    assert len(StateLog.open(path).segments) == 1


def test_a_change_of_the_model_begins_a_segment(path):
    logged = Logged(str(path))
    logged.step(10)
    logged.switch_model()
    logged.step(7)
    logged.logging.close()
    segments = StateLog.open(path).segments
    assert [len(segment) for segment in segments] == [10, 7]
    assert segments[1].time[0] == pytest.approx(0.010)


def test_a_change_of_the_model_that_is_rolled_back_changes_nothing(path):
    logged = Logged(str(path))
    logged.step(10)
    logged.logging.build(logged.simulation.build_plant(logged.simulation.assembly))
    logged.logging.rollback()
    logged.logging.commit()
    logged.step(5)
    logged.logging.close()
    assert len(StateLog.open(path)) == 15


def test_a_log_that_begins_as_the_model_changes_has_the_new_model(path):
    logged = Logged(folder=str(path.parent))
    logged.set(state_log=str(path))
    plant = logged.simulation.build_plant(logged.simulation.assembly)
    logged.simulation.switch_model(plant)  # before the command to log is carried out
    logged.step(5)
    logged.logging.close()
    assert len(StateLog.open(path)) == 5
    assert logged.logging._ring is not None
    assert logged.logging._ring.plant is plant


def test_an_existing_file_is_refused_at_start(path):
    path.write_text("precious")
    with pytest.raises(UserInputError, match="exists; it is not overwritten"):
        Logged(str(path))


@pytest.mark.parametrize(
    ("name", "message"),
    [("there", "exists; it is not overwritten"), ("missing/run", "its folder does not exist")],
)
def test_a_file_that_cannot_be_created_is_refused(tmp_path, name, message):
    (tmp_path / "there").touch()
    logged = Logged(folder=str(tmp_path))
    with pytest.raises(UserInputError, match=message):
        logged.set(state_log=str(tmp_path / name))
    assert logged.values["state_log"] == ""


@pytest.mark.parametrize(
    "name", ["{}/out.mjlog", "../out.mjlog", "link/out.mjlog", "a\0b", "~/x", "~no.user/x"]
)
def test_clients_have_logs_written_below_a_folder_only(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    logged = Logged(folder=str(folder))
    with pytest.raises(UserInputError, match=r"is not below '.*folder'|NUL|home"):
        logged.set(state_log=name.format(tmp_path))
    assert list(tmp_path.glob("*.mjlog")) == []


def test_a_log_can_be_read_by_its_user_alone(tmp_path):
    logged = Logged(str(tmp_path / "first.mjlog"), folder=str(tmp_path / "logs"))
    logged.set(state_log="second.mjlog")
    logged.step(3)
    logged.logging.close()
    files = [tmp_path / "first.mjlog", tmp_path / "logs" / "second.mjlog"]
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert len(StateLog.open(files[1])) == 3


def test_by_default_logs_of_clients_are_in_the_folder_of_ros(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    logged = Logged()
    logged.set(state_log="run.mjlog")
    logged.step(3)
    logged.logging.close()
    assert len(StateLog.open(tmp_path / "mujoco_ros" / "run.mjlog")) == 3


def test_diagnostics_have_a_row_of_the_log(path, monkeypatch):
    monkeypatch.setattr(ring_module, "_BYTES", 0)
    monkeypatch.setattr(ring_module, "_FEWEST", 10)
    logged = Logged(str(path))
    assert logged.logging.report().level == OK
    logged.step(500)  # faster than it can be written
    report = logged.logging.report()
    assert report.level == WARN
    assert "rows dropped: the disk is too slow" in report.text
    logged.logging.close()
    writer = logged.logging._writer
    assert writer is not None
    assert writer.rows + writer.dropped == 500
    writer.problem = "'run.mjlog' cannot be written: No space left on device"
    report = logged.logging.report()
    assert (report.level, report.text) == (ERROR, writer.problem)


def test_a_change_of_the_timestep_begins_a_segment(path):
    logged = Logged(str(path))
    logged.step(10)
    logged.simulation.set_timestep(0.004)
    logged.step(10)
    logged.switch_model()
    logged.step(10)
    logged.logging.close()
    log = StateLog.open(path)
    assert [len(segment) for segment in log.segments] == [10, 10, 10]
    assert [segment.timestep for segment in log.segments] == pytest.approx([0.001, 0.004, 0.004])


def test_changed_numbers_of_the_model_begin_a_segment_with_them(path):
    logged = Logged(str(path))
    mass = next(p for p in properties(logged.simulation.model) if p.attribute == "mass")
    for value in (3.0, 4.0):
        logged.step(10)
        logged.simulation.properties.set({mass: (value,)})
    before = logged.simulation.sample.qpos.copy()
    logged.step(5)
    logged.logging.close()
    assert not np.array_equal(before, logged.simulation.sample.qpos)
    segments = StateLog.open(path).segments
    assert [len(segment) for segment in segments] == [10, 10, 5]
    masses = [get_property(segment.assembly.model, mass)[0] for segment in segments]
    assert masses[0] != 3.0
    assert masses[1:] == [3.0, 4.0]


def test_a_segment_after_a_change_of_the_model_has_the_numbers_that_were_set(path):
    logged = Logged(str(path))
    mass = next(p for p in properties(logged.simulation.model) if p.attribute == "mass")
    logged.simulation.properties.set({mass: (3.0,)})
    logged.step(5)
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    ball = part_from_text(text, name="ball")
    logged.switch_model(rebuild(logged.simulation.assembly, add=[ball]))
    logged.step(5)
    logged.logging.close()
    segments = StateLog.open(path).segments
    assert [get_property(each.model, mass)[0] for each in segments[-2:]] == [3.0, 3.0]


def test_changed_options_begin_a_segment_with_them(path):
    logged = Logged(str(path))
    logged.step(5)
    options = replace(logged.simulation.options, gravity=(0.0, 0.0, -1.62))
    logged.simulation.set_options(options)
    logged.step(5)
    logged.logging.close()
    segments = StateLog.open(path).segments
    assert [segment.model.opt.gravity[2] for segment in segments] == [-9.81, -1.62]


def test_a_world_with_another_timestep_begins_just_one_segment(path):
    logged = Logged(str(path))
    logged.step(10)
    slower = replace(load_scene("arm"), physics=PhysicsConfig(timestep=0.004))
    plant = logged.simulation.build_plant(assemble(slower))
    logged.logging.build(plant)
    logged.simulation.switch_model(plant, fresh=True)
    logged.logging.commit()
    logged.step(5)
    logged.logging.close()
    segments = StateLog.open(path).segments
    assert [len(segment) for segment in segments] == [10, 5]
    assert [segment.timestep for segment in segments] == [0.001, 0.004]
