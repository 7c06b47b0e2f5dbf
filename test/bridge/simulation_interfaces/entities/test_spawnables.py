"""GetSpawnables over the middleware."""

from pathlib import Path

import mujoco
import pytest
from simulation_interfaces.msg import Bounds, Result
from simulator_client import SimulatorClient
from spawn_requests import ARM, BALL, BOX, at, resource_of, spawn

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import initial_box
from mujoco_ros.bridge.trial_builds import TrialBuilds

OLD = "<compiler settotalmass='1'/><worldbody>"


def test_the_shipped_models_can_be_spawned_and_have_bounds(yard: SimulatorClient):
    response = yard.call("GetSpawnables")
    assert response.result.result == Result.RESULT_OK
    found = {resource_of(it).uri: it for it in response.spawnables}
    assert {ARM, BOX} <= set(found)
    assert not any("/worlds/" in uri for uri in found)
    box = found[BOX]
    assert box.description.startswith("The cube of the grasping lab")
    assert box.spawn_bounds.type == Bounds.TYPE_BOX
    high, low = box.spawn_bounds.points
    assert (low.z, high.z) == pytest.approx((0.0, 0.04), abs=1e-3)


def test_every_spawnable_can_be_spawned(yard: SimulatorClient):
    for it in yard.call("GetSpawnables").spawnables:
        response = spawn(yard, uri=resource_of(it).uri, initial_pose=at(5.0, 5.0), name="guest")
        assert response.result.result == Result.RESULT_OK, response.result.error_message
        # All of them at once would be a model that takes long to compile, again and again.
        assert yard.call("DeleteEntity", entity="guest").result.result == Result.RESULT_OK


def test_sources_are_searched_as_well(yard: SimulatorClient, tmp_path: Path):
    (tmp_path / "ball.xml").write_text(f"<!-- A ball. -->{BALL}")
    (tmp_path / "package.xml").write_text("<package/>")
    (tmp_path / "broken.xml").write_text("<mujoco><bad/></mujoco>")
    response = yard.call("GetSpawnables", sources=[str(tmp_path)])
    found = {resource_of(it).uri: it for it in response.spawnables}
    ball = found[(tmp_path / "ball.xml").as_uri()]
    assert ball.description == "A ball."
    assert [round(point.x, 2) for point in ball.spawn_bounds.points] == [0.1, -0.1]
    assert found[(tmp_path / "broken.xml").as_uri()].spawn_bounds.type == Bounds.TYPE_EMPTY
    assert (tmp_path / "package.xml").as_uri() not in found


def test_a_missing_source_is_reported_beside_the_valid_spawnables(yard: SimulatorClient):
    response = yard.call("GetSpawnables", sources=["/missing"])
    assert response.result.result == Result.RESULT_OPERATION_FAILED
    assert (
        "'/missing' is not in a folder of which clients may name files"
        in response.result.error_message
    )
    assert len(response.spawnables) > 5


def test_messages_of_the_model_compiler_are_not_printed(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, capfd: pytest.CaptureFixture[str]
):
    (tmp_path / "old.xml").write_text(BALL.replace("<worldbody>", OLD, 1))
    with pytest.warns(UserWarning, match="settotalmass"):
        mujoco.MjSpec.from_file(str(tmp_path / "old.xml")).compile()
    capfd.readouterr()
    recwarn.clear()
    trials = TrialBuilds()
    low, high = trials.evaluate("'old'", initial_box, tmp_path / "old.xml")
    trials.stop()
    assert (high - low).tolist() == pytest.approx([0.2, 0.2, 0.2], abs=1e-6)
    assert not recwarn.list
    assert capfd.readouterr().err == ""
