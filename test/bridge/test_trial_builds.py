"""Builds in a worker process that crash, hang, or ask for too much."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import hostile_builds
import pytest
from hostile_builds import answer, read
from simulators import WAIT_LIMIT_S

from mujoco_ros.bridge.trial_builds import LIMITS, TrialBuilds
from mujoco_ros.bridge.trial_worker import BuildTrial
from mujoco_ros.model.errors import MissingFileError, ParseError, UserInputError
from mujoco_ros.model.scene.parts import load_spec
from mujoco_ros.process.limits import WorkerLimits

SMALL = WorkerLimits(processor_s=1.0, wall_s=200.0, memory_bytes=1 << 29)
SELF_ATTACHED = (
    "<mujoco><asset><model name='k' file='{0}'/></asset>"
    "<worldbody><attach model='k' body='b' prefix='k_'/></worldbody></mujoco>"
)


@pytest.fixture(scope="module")
def shared() -> Iterator[TrialBuilds]:
    trials = TrialBuilds(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(hostile_builds.__file__).parent))
        yield trials
    trials.stop()


@pytest.fixture
def trials(shared: TrialBuilds) -> TrialBuilds:
    assert shared.evaluate("it", answer, 7) == 7
    return shared


def test_the_process_ends_when_it_is_idle_and_the_next_model_starts_another() -> None:
    trials = TrialBuilds(replace(LIMITS, idle_s=0.01))
    try:
        pids = set()
        for number in range(3):
            assert trials.evaluate("it", abs, -number) == number
            pids.add(trials.pid)
            deadline = time.monotonic() + WAIT_LIMIT_S
            while trials.pid is not None and _runs(trials.pid):
                assert time.monotonic() < deadline, "it does not end"
                time.sleep(0.01)
        assert len(pids) == 3
    finally:
        trials.stop()


def _runs(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            hostile_builds.read_address_zero,
            "'it': it cannot be built: the worker process is gone: SIGSEGV",
        ),
        (hostile_builds.fill_memory, r"'it': too large to build, limit 0\.5 GiB of memory"),
        (hostile_builds.loop, "'it': too large to build, limit 1 s of processor time"),
    ],
)
def test_the_death_of_the_process_is_an_error_of_its_request(trials, function, message) -> None:
    before = trials.pid
    with pytest.raises(ParseError, match=message):
        trials.evaluate("'it'", function)
    assert trials.evaluate("it", answer, 8) == 8, "the next one has another process"
    assert trials.pid != before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to raise a priority")
def test_a_long_build_lowers_the_priority_of_its_own_thread_alone(trials) -> None:
    main, own = trials.evaluate("it", hostile_builds.nice_values)
    assert (main, own) == (-10, 5)


@pytest.mark.timeout(600)
def test_a_build_that_waits_forever_is_ended() -> None:
    trials = TrialBuilds(WorkerLimits(processor_s=60.0, wall_s=1.0, memory_bytes=1 << 30))
    with pytest.raises(ParseError, match="'it': too large to build, limit 1 s"):
        trials.evaluate("'it'", time.sleep, 1e6)
    trials.stop()


def test_a_crash_of_mujoco_is_an_error(trials, tmp_path: Path) -> None:
    """The simulator finds this cycle before MuJoCo, which does not; see test_files.py."""
    path = tmp_path / "rec.xml"
    path.write_text(SELF_ATTACHED.format("rec.xml"))
    with pytest.raises(ParseError, match=r"SIGSEGV; the simulator is not affected"):
        trials.evaluate("'rec'", hostile_builds.parse_unchecked, path)
    with pytest.raises(ParseError, match=r"rec\.xml' contains itself: rec\.xml → rec\.xml"):
        trials.evaluate("'rec'", load_spec, path, "'rec'")


def test_errors_of_the_model_are_those_of_a_build_in_the_simulator(trials) -> None:
    before = trials.pid
    with pytest.raises(MissingFileError, match="there is no file 'x'"):
        trials.evaluate("'it'", hostile_builds.reject)
    assert trials.pid == before


def test_the_files_of_a_trial_must_not_change(trials, tmp_path: Path) -> None:
    path = tmp_path / "it.xml"
    path.write_text("<mujoco/>")
    with trials.after_trial("'it'", read, path):
        read(path)

    def change_and_read() -> None:
        path.write_text("<mujoco> </mujoco>")
        read(path)

    changed = pytest.raises(UserInputError, match=r"it\.xml' changed while it was read; try again")
    with changed, trials.after_trial("'it'", read, path):
        change_and_read()


def test_a_trial_in_progress_ends_with_the_simulator() -> None:
    trials = TrialBuilds(LIMITS)
    assert trials.evaluate("it", answer, 7) == 7
    pid = trials.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    request = trials._worker.submit(BuildTrial(time.time))
    while not request.running():
        time.sleep(0.01)
    trials.stop()
    with pytest.raises(Exception, match="closed"):
        request.result(100.0)
    assert not Path(f"/proc/{pid}").exists()
