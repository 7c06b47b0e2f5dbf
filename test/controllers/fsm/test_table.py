"""The record of transitions."""

from concurrent.futures import ThreadPoolExecutor

from mujoco_ros.controllers.fsm.table import Transition, TransitionLog

GO = Transition(id=1, label="go", start="A", goal="B")


def test_every_reader_gets_all_events_in_order():
    log = TransitionLog()
    log.record(GO, time=1.0)
    log.record(GO, time=2.0, reason="requested")
    assert [(it.number, it.time, it.reason) for it in log.since(0)] == [
        (1, 1.0, ""),
        (2, 2.0, "requested"),
    ]
    assert [it.number for it in log.since(1)] == [2]
    assert log.since(2) == []
    assert [it.number for it in log.since(0)] == [1, 2], "reading removes nothing"


def test_a_full_log_keeps_the_newest_events_with_their_numbers():
    log = TransitionLog()
    for time in range(10_005):
        log.record(GO, time=time)
    numbers = [it.number for it in log.since(0)]
    assert numbers == list(range(6, 10_006))
    assert [it.number for it in log.since(10_003)] == [10_004, 10_005]


def test_events_recorded_by_several_threads_have_no_gap():
    log = TransitionLog()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda time: log.record(GO, time=time), range(2000)))
    assert [it.number for it in log.since(0)] == list(range(1, 2001))
