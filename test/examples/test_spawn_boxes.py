"""Boxes, spawned and deleted."""

import signal
from pathlib import Path

import pytest
from example_runs import CommandedSimulator
from simulation_interfaces.srv import DeleteEntity, GetEntities

SCRIPT = "07_spawn_boxes.py"


def entities(arm: CommandedSimulator) -> list[str]:
    client = arm.listener.node.create_client(GetEntities, "/mujoco/get_entities")
    assert arm.listener.spin_until(client.service_is_ready)
    names = arm.listener.result(client.call_async(GetEntities.Request())).entities
    arm.listener.node.destroy_client(client)
    return list(names)


def test_boxes_are_stacked_and_deleted(arm: CommandedSimulator) -> None:
    before = entities(arm)
    done = arm.run(SCRIPT, "--count", "2", "--watch", "2", "--at", "0", "0.6", "0.05")
    assert done.code == 0, done.errors
    rows = [line.split() for line in done.output.splitlines()[1:3]]
    assert [row[0] for row in rows] == ["spawned_box", "spawned_box_1"]
    heights = [float(row[3]) for row in rows]
    assert heights == pytest.approx([0.03, 0.09], abs=0.005)
    assert done.output.splitlines()[-1] == "2 spawned, 2 deleted"
    assert entities(arm) == before


def test_boxes_are_deleted_after_ctrl_c_too(arm: CommandedSimulator) -> None:
    before = entities(arm)
    example = arm.start(SCRIPT, "--watch", "60")
    assert arm.listener.spin_until(lambda: len(entities(arm)) > len(before))
    example.process.send_signal(signal.SIGINT)
    assert arm.listener.spin_until(example.is_over)
    assert example.outcome().code == 130
    assert entities(arm) == before


def test_another_model_is_named_after_its_file(arm: CommandedSimulator) -> None:
    dock = ("--model", "urdf_mjcf/objects/dock.xml", "--at", "0", "1.5", "0")
    done = arm.run(SCRIPT, "--count", "1", "--watch", "0", *dock)
    assert done.code == 0, done.errors
    assert done.output.splitlines()[1].split()[0] == "spawned_dock"


def test_boxes_remain_with_keep(arm: CommandedSimulator) -> None:
    assert arm.run(SCRIPT, "--count", "1", "--watch", "0", "--keep").code == 0
    assert "spawned_box" in entities(arm)
    client = arm.listener.node.create_client(DeleteEntity, "/mujoco/delete_entity")
    assert arm.listener.spin_until(client.service_is_ready)
    arm.listener.result(client.call_async(DeleteEntity.Request(entity="spawned_box")))
    arm.listener.node.destroy_client(client)


def test_the_reason_of_a_rejection_is_printed(arm: CommandedSimulator, tmp_path: Path) -> None:
    box = tmp_path / "box.xml"
    done = arm.run(SCRIPT, "--count", "1", "--model", str(box))
    assert (done.code, done.output) == (1, "0 spawned, 0 deleted\n")
    assert done.errors == f"there is no file '{box}'"


def test_a_model_is_found_by_its_relative_path(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--count", "1", "--model", "missing_box.xml")
    assert done.errors.startswith("there is no file '/")
    assert done.errors.endswith("/missing_box.xml'")
