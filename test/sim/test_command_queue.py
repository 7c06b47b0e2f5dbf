import threading
import time
from concurrent.futures import CancelledError

import pytest

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.sim.command_queue import CommandQueue


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
