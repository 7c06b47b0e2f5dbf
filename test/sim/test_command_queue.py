"""Stamps from before and after a reset are distinguished."""

import threading
import time
from concurrent.futures import CancelledError

import pytest

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.command_queue import ClockEpochs, CommandQueue, epoch_label, epoch_of
from mujoco_ros.sim.simulation import Simulation


def test_commands_run_in_their_order_and_return_results():
    queue, ran = CommandQueue(), []

    def command(number: int) -> int:
        ran.append(number)
        return number * 10

    futures = [queue.submit(lambda n=n: command(n)) for n in range(5)]
    assert ran == []
    assert not futures[0].done()
    queue.drain()
    assert ran == [0, 1, 2, 3, 4]
    assert [future.result(0) for future in futures] == [0, 10, 20, 30, 40]


def test_the_longest_queue_is_kept_until_it_is_read():
    queue = CommandQueue()
    for count in (1, 3, 2):
        for _ in range(count):
            queue.submit(lambda: None)
        queue.drain()
    assert queue.longest == 3
    queue.longest = 0
    queue.drain()
    assert queue.longest == 0


def test_an_exception_of_a_command_reaches_the_caller_and_stops_no_other_command():
    queue = CommandQueue()

    def fail() -> None:
        raise KeyError("no such joint")

    failed, fine = queue.submit(fail), queue.submit(lambda: "fine")
    queue.drain()
    with pytest.raises(KeyError, match="no such joint"):
        failed.result(0)
    assert fine.result(0) == "fine"


def test_a_full_queue_refuses_commands_and_keeps_the_pending_ones():
    queue, ran = CommandQueue(limit=3), []
    for number in range(3):
        queue.submit(lambda n=number: ran.append(n))
    with pytest.raises(QueueFullError, match="3 commands are waiting"):
        queue.submit(lambda: ran.append("refused"))
    queue.drain()
    assert ran == [0, 1, 2]
    queue.submit(lambda: ran.append("accepted"))
    queue.drain()
    assert ran == [0, 1, 2, "accepted"]


def test_a_cancelled_command_does_not_run():
    queue, ran = CommandQueue(), []
    cancelled = queue.submit(lambda: ran.append("cancelled"))
    other = queue.submit(lambda: ran.append("other"))
    assert cancelled.cancel()
    queue.drain()
    assert ran == ["other"]
    with pytest.raises(CancelledError):
        cancelled.result(0)
    assert not other.cancel()


def test_commands_of_several_threads_run_once_each_in_the_order_of_their_thread():
    queue, ran = CommandQueue(limit=10_000), []
    done = threading.Event()

    def submit(thread: int) -> None:
        for number in range(200):
            queue.submit(lambda n=number: ran.append((thread, n)))

    def drain() -> None:
        while not done.is_set():
            queue.drain()
            done.wait(1e-3)
        queue.drain()

    drainer = threading.Thread(target=drain)
    drainer.start()
    threads = [threading.Thread(target=submit, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    drainer.join()
    assert len(ran) == 8 * 200
    for thread in range(8):
        assert [n for t, n in ran if t == thread] == list(range(200))


def test_a_wait_ends_when_a_command_arrives():
    queue = CommandQueue()
    threading.Timer(0.05, lambda: queue.submit(lambda: None)).start()
    begin = time.perf_counter()
    queue.wait(30.0)
    assert time.perf_counter() - begin < 15.0


def test_a_wait_returns_at_once_if_a_command_is_pending():
    queue = CommandQueue()
    queue.submit(lambda: None)
    begin = time.perf_counter()
    queue.wait(30.0)
    assert time.perf_counter() - begin < 15.0


def test_a_wait_ends_when_woken_or_after_the_timeout():
    queue = CommandQueue()
    queue.wake()
    begin = time.perf_counter()
    queue.wait(30.0)
    queue.wait(0.01)
    assert 0.01 <= time.perf_counter() - begin < 15.0


_WALL = 1.7e9
"""A stamp of a client without the simulated time."""


def _after(*resets: tuple[float, float]) -> ClockEpochs:
    eras = ClockEpochs()
    for before, after in resets:
        eras.begin(before, after)
    return eras


@pytest.mark.parametrize("starts", [False, True])
@pytest.mark.parametrize("stamp", [0.1, 5.0, 9.0, 86_404.0])
def test_before_any_reset_every_stamp_is_current(stamp: float, starts: bool) -> None:
    assert _after().problem(stamp, 5.0, starts=starts) == ""


def test_a_stamp_of_the_wall_clock_is_a_time_of_sending_but_no_start() -> None:
    assert _after().problem(_WALL, 5.0) == ""
    assert "more than a day after the simulated time 5.000000 s" in _after().problem(
        _WALL, 5.0, starts=True
    )


@pytest.mark.parametrize("starts", [False, True])
def test_with_a_continued_clock_stamps_before_the_reset_are_outdated(starts: bool) -> None:
    eras = _after((5.0, 5.001))
    assert eras.problem(5.0, 5.2, starts=starts) == (
        "stamped 5.000000 s, before the simulation was reset at 5.001000 s"
    )
    for stamp in (5.001, 5.1, 7.0, 86_400.0):
        assert eras.problem(stamp, 5.2, starts=starts) == ""


def test_with_a_rewound_clock_stamps_in_the_future_are_outdated() -> None:
    eras = _after((12.0, 0.0))
    assert eras.problem(11.99, 0.02) == (
        "stamped 11.990000 s, before the simulation was reset and its time set back from "
        "12.000000 s"
    )
    assert eras.problem(8.0, 0.02)
    for stamp in (0.0, 0.01, 0.02, 0.1, 13.0, _WALL):
        assert eras.problem(stamp, 0.02) == ""


def test_a_trajectory_can_start_at_any_time_but_around_the_reset() -> None:
    eras = _after((12.0, 0.0))
    for start in (11.2, 11.99, 12.5, 13.0):
        assert eras.problem(start, 0.02, starts=True)
    for start in (0.02, 0.5, 5.0, 10.9, 13.1, 86_400.0):
        assert eras.problem(start, 0.02, starts=True) == ""


def test_stamps_are_current_again_once_the_time_of_the_reset_is_reached() -> None:
    eras = _after((12.0, 0.0))
    for stamp, now in ((12.0, 11.9), (12.3, 11.9), (12.3, 12.1)):
        assert eras.problem(stamp, now) == ""
        assert eras.problem(stamp, now, starts=True) == ""


def test_stamps_before_two_consecutive_resets_are_outdated() -> None:
    eras = _after((12.0, 0.0), (0.05, 0.0))
    assert eras.problem(11.99, 0.01)
    assert eras.problem(0.05, 0.01)


def test_an_old_reset_does_not_affect_stamps_after_the_next_one() -> None:
    eras = _after((12.0, 0.0), (4.0, 0.0))
    assert eras.problem(11.99, 0.01) == ""
    assert eras.problem(3.99, 0.01)


def test_the_number_of_stored_resets_is_limited() -> None:
    eras = _after(*[(0.5, 0.0)] * 1000)
    assert eras.problem(0.49, 0.01)
    assert len(eras._ends) < 100


def test_a_reset_of_the_simulation_starts_an_epoch() -> None:
    simulation = Simulation(load_scene("arm"))
    assert simulation.epochs.problem(0.001, 0.0) == ""
    simulation.set_time(3.0)
    simulation.reset(time=3.5)
    assert simulation.epochs.problem(3.4, 3.6)
    assert simulation.epochs.problem(3.5, 3.6) == ""


def test_the_label_of_an_epoch_names_its_number() -> None:
    labels = [epoch_label(number) for number in (0, 7, 12_345_678)]
    assert len({len(label) for label in labels}) == 1, "messages have a fixed layout"
    assert [epoch_of(label) for label in labels] == [0, 7, 12_345_678]
    assert [epoch_of(text) for text in ("", "restart", "world", "epoch x")] == [None] * 4


def test_every_reset_begins_another_epoch() -> None:
    epochs = ClockEpochs()
    epochs.begin(1.0, 0.0)
    epochs.begin(0.0, 0.0)
    assert epochs.number == 2
