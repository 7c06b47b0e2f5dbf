"""Saving the past states of a simulation from the viewer."""

import stat
import threading
from datetime import datetime

import cv2
import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from rosbags.rosbag2 import Reader

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import describe_robots
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.history_saving import BAG, FILM, IMAGE, LOG, TABLE, HistorySaving

IMAGES = FILM, IMAGE


@pytest.fixture
def length():
    """Span of the past states that are kept [s]."""
    return 1.0


@pytest.fixture
def run(length):
    """Return a function that simulates steps and returns the name of the shared state."""
    simulation = Simulation(load_scene("arm"))
    history = HistorySettings(length=length, rate=100.0)
    writer = SharedStateWriter(simulation, describe_robots, history=history)

    def steps(count: int) -> str:
        for _ in range(count):
            simulation.step()
            writer.write()
        return writer.name

    yield steps
    writer.close()


@pytest.fixture
def state(run):
    return SharedState(run(200))


def finish() -> None:
    """Wait for the threads that write files."""
    for thread in threading.enumerate():
        if thread.name == "history":
            thread.join()


@pytest.mark.parametrize(("kind", "suffix"), [(LOG, "mjlog"), (TABLE, "csv")])
def test_the_past_states_are_saved_below_the_output_folder(state, tmp_path, kind, suffix):
    clients = FakeClients()
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path / "out"))
    saving = HistorySaving(state, clients.parameters, lambda: datetime(2026, 1, 2, 3, 4, 5))
    request = saving.save(kind)
    finish()
    assert request.ok, request.message
    path = tmp_path / "out" / f"arm_2026-01-02_03-04-05.{suffix}"
    if kind == LOG:
        assert StateLog.open(path).time.tolist() == state.past.times.tolist()
        assert request.command == f"ros2 run mujoco_ros replay {path}"
    else:
        assert len(path.read_text().splitlines()) == 1 + len(state.past.times)
    second = saving.save(kind)
    finish()
    assert second.ok is False
    assert "exists" in second.message


def test_the_shown_state_stays_while_the_states_are_saved(state, tmp_path, monkeypatch):
    """The thread reads a copy of its own."""
    clients = FakeClients()
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path))
    monkeypatch.setattr(state, "review", lambda _after: pytest.fail("not thread-safe"))
    state.show(float(state.past.times[3]))
    before = state.data.qpos.copy()
    request = HistorySaving(state, clients.parameters).save(TABLE)
    finish()
    assert request.ok, request.message
    assert state.data.qpos.tolist() == before.tolist()


@pytest.fixture
def saving(state, tmp_path):
    """Into a folder that does not exist at first."""
    clients = FakeClients()
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path / "out"))
    return HistorySaving(state, clients.parameters, lambda: datetime(2026, 1, 2, 3, 4, 5))


def test_the_chosen_span_is_saved_as_a_bag(saving, state, tmp_path):
    times = state.past.times
    request = saving.save(BAG, start=float(times[5]), end=float(times[15]))
    assert saving.is_busy
    finish()
    assert request.ok, request.message
    path = tmp_path / "out" / "arm_2026-01-02_03-04-05.mcap"
    assert request.command == f"ros2 bag play {path}"
    with Reader(path) as reader:
        counts = {it.topic: it.msgcount for it in reader.connections}
        assert reader.start_time == round(1e9 * times[5])
    assert counts["/joint_states"] == 11


def test_an_image_shows_what_the_page_does(saving, state, tmp_path):
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(state.model, camera)
    state.show(float(state.past.times[3]))
    request = saving.save(IMAGE, camera=camera)
    finish()
    assert request.ok, request.message
    image = cv2.imread(str(tmp_path / "out" / "arm_2026-01-02_03-04-05.png"))
    assert image.shape == (720, 1280, 3)
    assert np.ptp(image) > 100


def test_an_image_shows_the_shown_state_after_it_has_left_the_past_states(
    saving, state, run, monkeypatch
):
    exported = []
    monkeypatch.setattr(saving, "_export", lambda *given: exported.append(given[3]))
    state.show(float(state.past.times[3]))
    run(1000)
    assert state.past.times[0] > state.time, "the shown state is not kept any more"
    saving.save(IMAGE)
    finish()
    (rows,) = exported
    assert rows["time"].tolist() == [state.time]
    assert rows["qpos"].tolist() == [state.data.qpos.tolist()]


def test_a_film_is_saved_in_a_new_folder_for_its_user_alone(saving, state, tmp_path):
    pytest.importorskip("av", reason="the extra 'video' is not installed")
    request = saving.save(FILM, start=float(state.past.times[-3]))
    finish()
    assert request.ok, request.message
    film = cv2.VideoCapture(str(tmp_path / "out" / "arm_2026-01-02_03-04-05.mp4"))
    is_read, frame = film.read()
    assert is_read
    assert frame.shape == (720, 1280, 3)
    assert frame.std() > 10.0, "it shows the scene"
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_created_is_named(saving, tmp_path):
    (tmp_path / "out").write_text("a file")
    request = saving.save(BAG)
    finish()
    assert request.ok is False
    assert f"folder '{tmp_path / 'out'}' cannot be created: File exists" in request.message


def test_a_camera_or_body_without_a_name_is_an_error_of_images_alone(
    saving, state, monkeypatch, tmp_path
):
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><camera/><body><geom size='1'/></body></worldbody></mujoco>"
    )
    fixed, tracking = mujoco.MjvCamera(), mujoco.MjvCamera()
    fixed.type, fixed.fixedcamid = int(mujoco.mjtCamera.mjCAMERA_FIXED), 0
    tracking.type, tracking.trackbodyid = int(mujoco.mjtCamera.mjCAMERA_TRACKING), 1
    with monkeypatch.context() as patch:
        patch.setattr(state, "model", model)
        requests = [saving.save(kind, camera=it) for it in (fixed, tracking) for kind in IMAGES]
        assert not saving.is_busy
        table = saving.save(TABLE, camera=fixed)
    finish()
    assert table.ok, table.message
    assert [it.ok for it in requests] == [False] * 4
    assert all("camera 0 of the model has no name" in it.message for it in requests[:2])
    assert all("body 1 of the model has no name" in it.message for it in requests[2:])
    assert [it.suffix for it in (tmp_path / "out").iterdir()] == [".csv"]


def test_a_cancelled_film_leaves_nothing(saving, state, tmp_path):
    request = saving.save(FILM)
    saving.cancel()
    finish()
    assert (request.ok, request.message) == (False, "cancelled")
    assert not list(tmp_path.glob("out/*"))


def test_the_error_of_the_process_is_the_result(saving, state, monkeypatch, tmp_path):
    camera = mujoco.MjvCamera()
    camera.distance = -1.0
    request = saving.save(IMAGE, camera=camera)
    finish()
    assert request.ok is False
    assert request.message.startswith("the pose of a camera has 6 numbers")
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("length", [0.0])
@pytest.mark.parametrize("kind", [LOG, TABLE])
def test_a_failed_saving_is_reported(state, tmp_path, kind):
    clients = FakeClients()
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path))
    saving = HistorySaving(state, clients.parameters, lambda: datetime(2026, 1, 2, 3, 4, 5))
    request = saving.save(kind)
    finish()
    assert request.ok is False
    assert str(tmp_path / "arm_2026-01-02_03-04-05") in request.name
    assert "no past states" in request.message
    assert not list(tmp_path.iterdir())
