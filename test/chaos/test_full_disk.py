"""Bags and state logs on a disk that is full: what was written before remains readable.

One disk is a small tmpfs, which a test may mount only with the right to; the other is a limit of
the kernel on the size of files, which ends writes in the same way: with a part of the bytes.
"""

import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_clients import CommandClient
from fork_server import fork_server
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock
from simulators import WAIT_LIMIT_S, SimulatorLauncher

from mujoco_ros.cli.record import main
from mujoco_ros.sim.state_log.reader import StateLog

SIZE = 6_000_000  # bytes; a slow machine writes 3 MB of a state log at a time
"""Large enough for the head of a state log with the arm's model, small enough to be full soon."""


class SmallDisk:
    """A folder whose files cannot grow beyond SIZE.

    Attributes:
        folder: The folder.
        reason: What the system reports when it is full.
    """

    def __init__(self, folder: Path, reason: str, restrict: Callable[[int], None]) -> None:
        """Take a folder; `restrict` is called with the id of each process that writes into it."""
        self.folder, self.reason, self.restrict = folder, reason, restrict


@pytest.fixture(params=["tmpfs", "limit"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    if request.param == "limit":
        yield SmallDisk(tmp_path, "File too large", _limit_files)
        return
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a tmpfs")
    yield SmallDisk(folder, "No space left on device", lambda _pid: None)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _limit_files(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (SIZE, SIZE))


def test_a_bag_on_a_full_disk_ends_with_a_reason_and_is_readable(
    start: SimulatorLauncher, disk: SmallDisk, tmp_path: Path
) -> None:
    simulator = start.simulator(scene="humanoid", publish_rate__joint_states=1000.0)
    simulator.wait_until_running()
    bag, log = disk.folder / "bag", tmp_path / "record.log"
    with log.open("wb") as output:
        recorder = fork_server().fork(
            "mujoco_ros.cli.record",
            "--output",
            str(bag),
            "--regex",
            ".*",
            env=simulator.environment,
            stdout=output.fileno(),
        )
    disk.restrict(recorder.pid)
    (disk.folder / "other_file").write_bytes(bytes(SIZE // 10))
    try:
        assert recorder.wait(WAIT_LIMIT_S) == 1
    finally:
        recorder.kill()
    reported = log.read_text()
    assert f"cannot be written: {disk.reason}; the messages recorded before, at least" in reported
    assert f"are kept; 'record --repair {bag}' indexes them" in reported
    assert "Traceback" not in reported
    before = _count(bag)
    assert before > 1000
    repaired = tmp_path / "repaired"  # on another disk
    assert main(["--repair", str(bag), "--output", str(repaired)]) == 0
    assert _count(repaired) == before
    assert simulator.stop() == 0


def _count(bag: Path) -> int:
    with Reader(bag) as reader:
        return sum(1 for _ in reader.messages())


def test_a_state_log_on_a_full_disk_ends_and_the_simulation_continues(
    start: SimulatorLauncher, disk: SmallDisk
) -> None:
    simulator = start.simulator(scene="arm", output_folder=str(disk.folder))
    simulator.wait_until_running()
    listener = start.listener(simulator)
    disk.restrict(simulator.process.pid)
    path = disk.folder / "run.mjlog"
    (result,) = listener.set_parameters({"state_log": str(path)})
    assert result.successful
    simulator.wait_for_log(f"the state log ends: '{path}' cannot be written: {disk.reason}")
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 100)
    assert CommandClient(listener).follow(joints=()).result().result.error_code == 0
    assert len(StateLog.open(path)) > 100  # and closes it, since an open file keeps its space
    path.unlink()
    following = path.with_name("next.mjlog")
    (result,) = listener.set_parameters({"state_log": str(following)})
    assert result.successful
    assert listener.spin_until(lambda: following.stat().st_size > 100_000)
    assert simulator.stop() == 0
    assert f"'{path}' is complete" not in simulator.log
    assert "Traceback" not in simulator.log
    assert len(StateLog.open(following)) > 0
