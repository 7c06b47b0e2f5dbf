"""Signals during the imports of each program, and standard streams that are closed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mujoco_ros import cli
from mujoco_ros.process import child_process
from mujoco_ros.process.child_process import ONE_THREAD

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0
TABLE = ROOT / "mujoco_ros/controllers/library/stand/stand.yaml"
NODES = ["sim", "cameras", "controller", "record", "replay", "viewer", "window"]
TOOLS = ["check_robot", "evaluate", "export_log", "export_urdf", "fit", "import_policy"]
_ENDLESS_IMPORT = """
import pathlib
import time

pathlib.Path(__file__).with_suffix(".imported").touch()
while True:
    time.sleep(0.01)
"""


def command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"mujoco_ros.cli.{name}", *arguments]


def errors_of(output: str | bytes) -> str:
    """Return what a program writes to standard error but for its progress: machines are slow."""
    text = output.decode() if isinstance(output, bytes) else output
    return re.sub(r"^\w+: (loading|running), \d+ s\n", "", text, flags=re.MULTILINE)


def end_of_import(folder: Path, started: Sequence[str], number: int) -> tuple[int, bytes, str]:
    """Signal a program while it imports NumPy; return its exit code and what it has printed."""
    (folder / "numpy.py").write_text(_ENDLESS_IMPORT)
    process = subprocess.Popen(
        started,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        end = time.monotonic() + PATIENCE_S
        while not (folder / "numpy.imported").exists():
            assert time.monotonic() < end, "the import did not begin"
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return process.returncode, output, errors_of(errors)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, signal.SIGINT) for name in NODES),
        ("sim", signal.SIGTERM),
        ("viewer", signal.SIGTERM),
    ],
)
def test_a_node_ends_without_an_error_during_its_imports(name, number, tmp_path):
    state = ["--state", "none"]
    arguments = {"replay": ["run.mjlog"]} | dict.fromkeys(("cameras", "viewer", "window"), state)
    started = command(name, *arguments.get(name, []))
    if (name, number) == ("viewer", signal.SIGTERM):
        started = [sys.executable, "-c", "from mujoco_ros.cli import viewer; viewer.main()"]
        started += ["--state", "none"]  # as in a child process of the simulator
    assert end_of_import(tmp_path, started, number) == (0, b"", "")


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_the_simulator_ends_without_an_error_during_its_imports(number, tmp_path):
    started = [sys.executable, "-m", "mujoco_ros"]
    assert end_of_import(tmp_path, started, number) == (0, b"", "")


@pytest.mark.parametrize(
    ("name", "number"), [*((name, signal.SIGINT) for name in TOOLS), ("fit", signal.SIGTERM)]
)
def test_a_tool_ends_by_a_signal_without_a_word_during_its_imports(name, number, tmp_path):
    assert end_of_import(tmp_path, command(name), number) == (-number, b"", "")


def test_a_script_of_an_installation_ends_by_a_signal_during_its_imports(tmp_path):
    script = tmp_path / "evaluate"
    script.write_text("from mujoco_ros.cli.evaluate import main\nmain()\n")
    ended = end_of_import(tmp_path, [sys.executable, str(script)], signal.SIGINT)
    assert ended == (-signal.SIGINT, b"", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["draw_controller", "record"])
def test_a_command_that_is_interrupted_closes_its_files_and_ends_with_one_line(
    name, number, tmp_path
):
    script = tmp_path / name
    script.write_text(
        "import os, sys, time\n"
        "from mujoco_ros.cli.command_line import report_errors\n"
        "def work():\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        time.sleep(600)\n"
        "    finally:\n"
        "        print('closed')\n"
        "sys.exit(report_errors(work))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = 130, "closed\n", "mujoco_ros: error: interrupted\n"
    assert (done.returncode, done.stdout, errors_of(done.stderr)) == expected


def test_a_signal_that_the_caller_ignores_stays_ignored():
    ignored = (
        "import os, signal; from mujoco_ros.cli.command_line import report_errors; "
        "report_errors(lambda: os.kill(os.getpid(), signal.SIGINT) or 0); print('done')"
    )
    started = ["bash", "-c", f"trap '' INT; exec {sys.executable} -c \"{ignored}\""]
    done = subprocess.run(
        started,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["python", "-m", "mujoco_ros.cli.fit", "scene.yaml"], "fit"),
        (["python", "-mmujoco_ros.cli.fit"], "fit"),
        (["python", "-m", "another.program"], None),
    ],
)
def test_the_program_is_found_by_its_command(arguments, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-m"])
    monkeypatch.setattr(sys, "orig_argv", arguments)
    assert cli._program() == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [("mujoco_ros.cli.viewer", "viewer"), ("mujoco_ros.controllers.planning.worker", None)],
)
def test_the_program_of_a_child_process_is_found(module, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", [child_process.__file__, "1", module])
    monkeypatch.setattr(sys, "orig_argv", child_process.python_command(module))
    assert cli._program() == expected


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed, tmp_path):
    run = " ".join(command("draw_controller", str(TABLE)))
    output = tmp_path / "diagram"
    for end in ("", f"-o {output}") if closed == "<&- >&- 2>&-" else ("",):
        done = subprocess.run(
            ["bash", "-c", f"{run} {end} {closed}"], cwd=ROOT, capture_output=True, check=False
        )
        assert (done.returncode, errors_of(done.stderr)) == (0, "")
        printed = end == "" and closed in ("<&-", "2>&-")
        assert bool(done.stdout) == printed
        assert not end or output.read_text().startswith("<svg")


def test_an_error_with_closed_streams_is_an_exit_code():
    run = " ".join(command("draw_controller", "no_such_file.yaml"))
    for closed in ("2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["bash", "-c", f"{run} {closed}"], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("streams", ["", "2>&1"])
def test_a_program_whose_reader_has_ended_ends_by_sigpipe_without_a_word(streams):
    run = " ".join(command("draw_controller", str(TABLE) if not streams else "no_such_file.yaml"))
    pipe = f"{{ {run} {streams}; echo $? >&3; }} | true"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&1; {pipe}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, errors_of(done.stderr)) == (f"{128 + signal.SIGPIPE}\n", "")


def test_other_programs_keep_their_signals_and_streams(monkeypatch):
    before = signal.getsignal(signal.SIGINT), sys.excepthook, sys.stdout
    cli.prepare_program()
    monkeypatch.setattr(sys, "argv", [])
    cli.prepare_program()
    assert (signal.getsignal(signal.SIGINT), sys.excepthook, sys.stdout) == before


def test_results_do_not_depend_on_the_number_of_threads(tmp_path):
    script = tmp_path / "evaluate"
    script.write_text(
        "import mujoco_ros.cli\nimport numpy as np\n"
        "matrix = np.random.default_rng(1).normal(size=(200, 200))\n"
        "print(np.linalg.solve(matrix, matrix.T).tobytes().hex())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, str(script)],
            cwd=ROOT,
            env=os.environ | dict.fromkeys(ONE_THREAD, count) | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for count in ("1", "4")
    }
    assert len(outputs) == 1


def test_the_viewer_loads_no_clients_of_other_servers():
    code = (
        "import sys; from mujoco_ros.cli.viewer import import_server; import_server(); "
        "print(*sys.modules); import requests"  # by others, it can be imported
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    assert "engineio" in modules
    assert not {"aiohttp", "requests"} & set(modules)


def test_programs_do_not_load_the_library_of_windows(tmp_path):
    script = tmp_path / "evaluate"
    script.write_text("import sys\nimport mujoco_ros.cli\nimport mujoco\nprint(*sys.modules)\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={name: it for name, it in os.environ.items() if name != "MUJOCO_GL"}
        | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "glfw" not in done.stdout.split()
