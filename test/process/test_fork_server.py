"""The processes of tests, which end with them."""

import signal
import subprocess
import sys
from pathlib import Path

import fork_server
import pytest

TIMEOUT_S = 120.0
PROGRAM = """
import subprocess, sys
child = "import time; print('ready', flush=True); time.sleep(600)"
subprocess.run([sys.executable, "-c", child])
"""
TESTS = """
import os, sys
from fork_server import fork_server
fork_server().fork(sys.argv[1], env=os.environ, stdout=1)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGKILL])
def test_forked_programs_and_their_children_end_with_the_tests(
    number: signal.Signals | None, tmp_path: Path
):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, "-c", TESTS, str(program)],
        cwd=Path(fork_server.__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as tests:
        assert tests.stdout
        assert tests.stdout.readline() == "ready\n"
        if number is not None:
            tests.send_signal(number)
        # Ends the input, and waits for the end of the output, which all processes share.
        assert tests.communicate(timeout=TIMEOUT_S) == ("", None)
