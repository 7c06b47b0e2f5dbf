"""Calls in the executor's thread, and their exceptions."""

import inspect
import logging
import threading
from functools import partial

import pytest
from rclpy.node import Node
from simulators import Listener

from mujoco_ros.rclpy_ext.executor import create_wall_timer, guarded, later


def test_an_exception_of_a_call_is_logged_and_affects_no_other_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(text: str) -> None:
        raise LookupError(text)

    with caplog.at_level(logging.ERROR):
        guarded(fail)("no such thing")
    assert "fail failed" in caplog.text
    assert "LookupError: no such thing" in caplog.text


def test_a_guarded_call_has_the_arguments_of_the_call() -> None:
    calls: list[object] = []
    guarded(lambda first, second: calls.append((first, second)))(1, 2)
    guarded(partial(calls.append, 3))()
    assert calls == [(1, 2), 3]
    assert list(inspect.signature(guarded(lambda message: None)).parameters) == ["message"]


def test_the_executor_makes_a_call_from_another_thread(
    listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    node, threads = listener.node, []
    asked = threading.Thread(
        target=lambda: (
            later(node, lambda: 1 / 0),
            later(node, lambda name: threads.append((name, threading.get_ident())), "me"),
        )
    )
    asked.start()
    assert listener.spin_until(lambda: bool(threads))
    asked.join()
    assert threads == [("me", threading.get_ident())]
    assert listener.spin_until(lambda: "ZeroDivisionError" in caplog.text)


def test_without_an_executor_no_call_is_made(listener: Listener) -> None:
    node = Node("alone", context=listener.node.context)
    assert not later(node, pytest.fail)
    node.destroy_node()


def test_a_wall_timer_calls_again_after_an_exception(
    listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def fail() -> None:
        calls.append(threading.get_ident())
        raise LookupError("no such thing")

    timer = create_wall_timer(listener.node, 0.01, fail)
    assert listener.spin_until(lambda: len(calls) > 1)
    assert "no such thing" in caplog.text
    listener.node.destroy_timer(timer)
