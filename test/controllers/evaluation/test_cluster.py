"""Episodes on a Ray cluster of three machines, which are processes here: the same, exactly once."""

import time
from importlib.util import find_spec
from pathlib import Path

import fake_episodes
import pytest
from fake_episodes import die_always, fake_episode, lacks_a_module, slow_episode

from mujoco_ros.controllers.evaluation.episode import run_episode, versions
from mujoco_ros.controllers.evaluation.parallel_episodes import DIED, cluster_episodes, run_seed
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.pick_place import PickPlaceTrial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble

# Its import takes half a second, also in processes that only collect these tests.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
MODULE = "mujoco_ros.controllers.evaluation.parallel_episodes"
_MACHINE = {"num_cpus": 1, "object_store_memory": 80 << 20}
_ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
"""Ray replaces 127.0.0.1 by the address of a network."""
_QUICK_HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 10,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(fake_episodes.__file__).parent))
        patch.setenv("MARK", str(tmp_path_factory.mktemp("marks") / "mark"))
        head = {
            **_MACHINE,
            "node_ip_address": _ADDRESSES[0],
            "include_dashboard": False,
            "_system_config": _QUICK_HEALTH_CHECKS,
        }
        started = Cluster(initialize_head=True, head_node_args=head)
        yield started
        started.shutdown()


@pytest.fixture(scope="module")
def machines(cluster):
    """Two machines beside the first one."""
    added = [cluster.add_node(**_MACHINE, node_ip_address=it) for it in _ADDRESSES[1:]]
    cluster.wait_for_nodes()
    yield added
    for node in added:
        if node in cluster.list_all_nodes():
            cluster.remove_node(node)


def test_episodes_have_the_same_bits_on_a_cluster_as_in_one_process(cluster, machines):
    tried = trial("pick_place", "table")
    seeds, assembly = [11, 12], assemble(tried.scene_config())
    local = [run_episode(tried, assembly, seed, time.process_time) for seed in seeds]
    remote = list(cluster_episodes(tried, seeds, time.process_time, address=cluster.address))
    assert {it.seed: it.digest for it in remote} == {it.seed: it.digest for it in local}
    assert {it.seed: it.measures for it in remote} == {it.seed: it.measures for it in local}


def test_a_machine_that_is_killed_costs_nothing_but_time(cluster, machines):
    seeds = range(8)
    running = cluster_episodes(
        *(PickPlaceTrial(), seeds, time.process_time),
        address=cluster.address,
        run=slow_episode,
    )
    done = [next(running)]
    cluster.remove_node(machines[0], allow_graceful=False)
    done += running
    assert sorted(it.seed for it in done) == list(seeds)
    assert all(it == fake_episode(it.seed) for it in done)


def test_an_episode_that_always_kills_its_process_is_reported(cluster, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.ATTEMPTS", 2)
    (lost,) = cluster_episodes(
        *(PickPlaceTrial(), [4], time.process_time), address=cluster.address, run=die_always
    )
    assert (lost.seed, lost.outcome) == (4, DIED)


def test_an_error_of_a_machine_is_that_of_the_command(cluster, monkeypatch):
    arguments = (PickPlaceTrial(scene="arms"), [1], time.process_time)
    with pytest.raises(UserInputError, match="scene 'arms' not found"):
        list(cluster_episodes(*arguments, address=cluster.address))
    arguments = (PickPlaceTrial(), [1], time.process_time)
    monkeypatch.setattr(f"{MODULE}.scene_hash", lambda _: "of another scene")
    with pytest.raises(UserInputError, match=r"the scene of .* is another one"):
        list(cluster_episodes(*arguments, address=cluster.address))


@pytest.mark.parametrize("name", ["code", "mujoco"])
def test_a_machine_with_another_version_is_named_before_its_request_is_read(name):
    message = (
        rf"of the cluster has another version of this package .*: {name} is .*, here it is 3\.9"
    )
    with pytest.raises(UserInputError, match=message):
        run_seed({**versions(), name: "3.9"}, b"no pickle", 1)


def test_a_machine_without_the_package_is_an_error_of_the_user(cluster):
    found = cluster_episodes(
        *(PickPlaceTrial(), [1], time.process_time), address=cluster.address, run=lacks_a_module
    )
    with pytest.raises(UserInputError, match=r"lacks this package, or a part: .*nothing_like_it"):
        next(found)


@pytest.mark.parametrize(
    ("address", "cause"),
    [("127.0.0.2:1", "refused"), ("anywhere", "expected host:port"), (":", "expected host:port")],
)
def test_a_cluster_that_does_not_exist_is_an_error(address, cause):
    running = cluster_episodes(PickPlaceTrial(), [1], time.process_time, address=address)
    with pytest.raises(UserInputError, match=f"no Ray cluster at '{address}': .*{cause}"):
        next(running)
