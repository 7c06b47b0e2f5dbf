"""The entry point of child processes."""

import logging
import subprocess
import time
from pathlib import Path

import pytest

from mujoco_ros.process import child_process
from mujoco_ros.process.child_process import python_command
from mujoco_ros.process.managed_process import CANNOT_RUN_HERE, ManagedProcess


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a module that a child process can import as ``work``."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "work.py"


def outcome(*arguments: str) -> tuple[int, str]:
    """Return exit code and standard error of the module's child process."""
    process = child_process.start(python_command("work", *arguments), stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=250)
    return process.returncode, errors.decode()


def test_it_runs_main_with_the_arguments(module: Path) -> None:
    module.write_text("def main(arguments): return len(arguments)")
    assert outcome("a", "b") == (2, "")


def test_a_missing_python_module_is_one_sentence(module: Path) -> None:
    module.write_text("import absent_bridge.images\ndef main(arguments): return 0")
    code, errors = outcome()
    assert code == CANNOT_RUN_HERE
    assert errors.startswith("Python module 'absent_bridge' is not installed; install the ")
    assert errors.count("\n") == 1


def test_a_missing_module_of_the_package_itself_is_a_traceback(module: Path) -> None:
    module.write_text("import mujoco_ros.absent\ndef main(arguments): return 0")
    code, errors = outcome()
    assert code == 1
    assert "Traceback" in errors


def test_a_missing_python_module_is_reported_once(
    module: Path, caplog: pytest.LogCaptureFixture
) -> None:
    module.write_text("import absent_bridge\ndef main(arguments): return 0")
    process = ManagedProcess(
        "cameras", python_command("work"), memoryview(bytearray(8)).cast("d"), forward=bytes
    )
    process.start(time.monotonic())
    deadline = time.monotonic() + 60
    while process.pid is not None:
        assert time.monotonic() < deadline
        process.check(time.monotonic())
        time.sleep(0.01)
    process.check(time.monotonic() + 3600)
    assert process.starts == 1
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "child process 'cameras' is not available: Python module 'absent_bridge'" in caplog.text
    process.end(0.0)
