"""Models that ask for too much, sent to a simulator by a client."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulation_interfaces.msg import Resource, Result, SpawnEntity
from simulation_interfaces.srv import LoadWorld
from simulation_interfaces.srv import SpawnEntity as Codes
from simulator_client import PLAYING, SimulatorClient
from spawn_requests import BALL, at, named_resource, spawn
from std_srvs.srv import Trigger

OK = Result.RESULT_OK
PARSE_ERROR = Codes.Response.RESOURCE_PARSE_ERROR
WORKER = "trial_worker"
ATTACHED = (
    "<mujoco model='rec'><asset><model name='k' file='{0}'/></asset><worldbody>"
    "<body name='b'><attach model='k' body='b' prefix='k_'/></body></worldbody></mujoco>"
)


@pytest.fixture
def remote(shared_client: SimulatorClient) -> Iterator[SimulatorClient]:
    """The shipped arm; the same process steps it after each test."""
    shared_client.ensure_state(PLAYING)
    yield shared_client
    before = shared_client.clock.latest
    assert shared_client.listener.spin_until(lambda: shared_client.clock.latest != before)


def replicated(*counts: int) -> str:
    begin = "".join(f"<replicate count='{count}' offset='1 0 0'>" for count in counts)
    end = "</replicate>" * len(counts)
    return f"<mujoco model='many'><worldbody>{begin}<geom size='.1'/>{end}</worldbody></mujoco>"


def urdf_chain(count: int) -> str:
    links = "".join(f"<link name='l{i}'/>" for i in range(count))
    joints = "".join(
        f"<joint name='j{i}' type='fixed'><parent link='l{i - 1}'/><child link='l{i}'/></joint>"
        for i in range(1, count)
    )
    return f"<robot name='chain'>{links}{joints}</robot>"


def nested_bodies(count: int) -> str:
    bodies = "<body><geom size='.1'/>" * count + "</body>" * count
    return f"<mujoco model='nest'><worldbody>{bodies}</worldbody></mujoco>"


def height_field(side: int) -> str:
    field = f"<hfield name='alps' nrow='{side}' ncol='{side}' size='1 1 1 1'/>"
    return f"<mujoco model='alps'><asset>{field}</asset></mujoco>"


def robots(count: int) -> str:
    entries = "".join(f"\n  - {{name: r{i}, model: /none.xml}}" for i in range(count))
    return f"robots:{entries}\n"


def bomb(step: str, count: int) -> str:
    """Return a YAML text of 8 lines, each with several aliases of the line before."""
    lines = ["a: &a {k: 1}"]
    for before, name in zip("abcdefg", "bcdefgh", strict=True):
        lines.append(f"{name}: &{name} " + step.format(", ".join([f"*{before}"] * count)))
    return "\n".join(lines)


TEXTS = {
    "copies": (replicated(10**9), "too large: 1000000003 elements, limit 2000"),
    "copies of few": (replicated(302), "too large: 301 elements copied by replicate, limit 300"),
    "links": (urdf_chain(10_000), "too large: 10000 links, limit 1000"),
    "height field": (height_field(8000), "64000000 cells of hfield 'alps', limit 4000000"),
    "nested bodies": (nested_bodies(20_000), "too large: 2001 elements, limit 2000"),
    "long name": (
        f"<mujoco model='it'><worldbody><body name='{'a' * 100_000}'/></worldbody></mujoco>",
        "of a body has 100000 characters, limit 200",
    ),
    "comment without an end": ("<mujoco>" + "<!--" * 400_000, "XML"),
}
WORLDS = {
    "robots": (robots(5_000), "too large"),
    "fewer robots": (robots(101), "too large: 101 robots, limit 100"),
    "aliases": (bomb("[{}]", 30), "too large: more than 100000 values, aliases included"),
    "merged keys": (bomb("{{<<: [{}]}}", 30), "too large: more than 100000 values"),
}


def load(remote: SimulatorClient, text: str) -> Any:
    return remote.call("LoadWorld", **named_resource(LoadWorld.Request, text=text)).result


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("text", "why"), TEXTS.values(), ids=TEXTS)
def test_a_model_that_asks_for_too_much_is_refused(remote, text: str, why: str) -> None:
    result = spawn(remote, text=text, name="it", initial_pose=at()).result
    assert (result.result, why in result.error_message) == (PARSE_ERROR, True), result.error_message
    result = load(remote, text)
    assert result.result != OK
    assert why in result.error_message


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("text", "why"), WORLDS.values(), ids=WORLDS)
def test_a_scene_that_asks_for_too_much_is_refused(remote, text: str, why: str) -> None:
    result = load(remote, text)
    assert result.result != OK
    assert why in result.error_message


@pytest.mark.timeout(600)
def test_a_model_that_attaches_itself_is_refused_by_uri_and_by_text(remote, tmp_path: Path) -> None:
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    one.write_text(ATTACHED.format("two.xml"))
    two.write_text(f"<mujoco><include file='{one}'/></mujoco>")
    world = LoadWorld.Response.RESOURCE_PARSE_ERROR
    for code, result in (
        (PARSE_ERROR, spawn(remote, uri=str(one), name="it").result),
        (PARSE_ERROR, spawn(remote, text=ATTACHED.format(one), name="it").result),
        (world, remote.call("LoadWorld", **named_resource(LoadWorld.Request, uri=str(two))).result),
        (world, load(remote, ATTACHED.format(one))),
    ):
        assert result.result == code
        assert "contains itself: " in result.error_message
    listing = remote.call("GetSpawnables", sources=[str(tmp_path)])
    assert listing.result.result == OK, "models that cannot be measured are listed"


def test_many_entities_in_one_request_are_refused(remote) -> None:
    ball = SpawnEntity(entity_resource=Resource(resource_string=BALL), initial_pose=at())
    result = remote.call("SpawnEntities", spawn_requests=[ball] * 1001).result
    assert (result.result, result.error_message) == (
        Result.RESULT_OPERATION_FAILED,
        "too large: 1001 entities, limit 1000",
    )


def children(pid: int) -> Iterator[int]:
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        yield from map(int, listing.read_text().split())


def workers(remote: SimulatorClient) -> list[int]:
    """Return the processes of the trial builds, which are forked."""
    forked = (
        pid
        for server in children(remote.simulator.process.pid)
        for supervisor in children(server)
        for pid in children(supervisor)
    )
    return [pid for pid in forked if Path(f"/proc/{pid}/comm").read_text().strip() == WORKER]


def send(number: signal.Signals, pids: list[int]) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, number)


@pytest.mark.timeout(600)
def test_others_are_answered_while_a_model_is_built_and_its_crash_is_an_error(remote) -> None:
    """The worker process is stopped as by a model that takes long, and then killed."""
    assert spawn(remote, text=BALL, name="first", initial_pose=at(z=3.0)).result.result == OK
    stopped = workers(remote)
    send(signal.SIGSTOP, stopped)
    waiting = remote.request(
        "SpawnEntity",
        **named_resource(Codes.Request, text=BALL),
        name="second",
        initial_pose=at(z=5.0),
    )
    assert "first" in remote.call("GetEntities").entities
    assert remote.call("GetEntityState", entity="first").result.result == OK
    assert not waiting.done()
    send(signal.SIGKILL, stopped)
    result = remote.listener.result(waiting).result
    assert (result.result, "SIGKILL" in result.error_message) == (PARSE_ERROR, True)
    assert spawn(remote, text=BALL, name="second", initial_pose=at(z=5.0)).result.result == OK
    for name in ("first", "second"):
        assert remote.call("DeleteEntity", entity=name).result.result == OK


@pytest.mark.timeout(600)
def test_a_build_can_be_cancelled(remote) -> None:
    """The worker process is stopped, as by a model that takes long."""
    client = remote.listener.node.create_client(Trigger, "/mujoco/cancel_build")
    assert remote.listener.spin_until(client.service_is_ready)
    cancelled = remote.listener.result(client.call_async(Trigger.Request()))
    assert (cancelled.success, cancelled.message) == (
        False,
        "no change of the model is being built",
    )
    assert spawn(remote, text=BALL, name="first", initial_pose=at(z=3.0)).result.result == OK
    send(signal.SIGSTOP, workers(remote))
    ball = SpawnEntity(entity_resource=Resource(resource_string=BALL), initial_pose=at())
    waiting = remote.request("SpawnEntities", spawn_requests=[ball, ball])
    for _ in range(100):  # until the request has arrived
        if remote.listener.result(client.call_async(Trigger.Request())).success:
            break
    results = remote.listener.result(waiting).results
    assert {it.result.error_message for it in results} == {"cancelled by a client (~/cancel_build)"}
    assert spawn(remote, text=BALL, name="second", initial_pose=at(z=5.0)).result.result == OK
    for name in ("first", "second"):
        assert remote.call("DeleteEntity", entity=name).result.result == OK


@pytest.mark.timeout(600)
def test_more_changes_than_can_wait_are_answered_with_busy(remote) -> None:
    assert spawn(remote, text=BALL, name="first", initial_pose=at(z=3.0)).result.result == OK
    stopped = workers(remote)
    send(signal.SIGSTOP, stopped)
    fields = named_resource(Codes.Request, text=BALL)
    requests = [
        remote.request("SpawnEntity", **fields, name=f"it{i}", initial_pose=at(x=i, z=9.0))
        for i in range(40)
    ]
    assert remote.listener.spin_until(lambda: sum(it.done() for it in requests) >= 7)
    busy = [it.result().result.error_message for it in requests if it.done()]
    assert set(busy) == {"busy: 32 changes of the model wait"}
    assert len(busy) == 7
    send(signal.SIGCONT, stopped)
    done = [remote.listener.result(it).result.result for it in requests]
    assert done.count(OK) == 33
    assert remote.call("ResetSimulation").result.result == OK
