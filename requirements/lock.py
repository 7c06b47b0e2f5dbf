"""Resolve requirements/*.in into the lock files: `make lock`, then review the difference."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESOLVER = HERE / "installer.txt"
OLDEST_PYTHON = "3.11"


def main() -> None:
    """Write <distribution>.txt for every ros-<distribution>.in."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", RESOLVER], check=True)
        for source in sorted(HERE.glob("ros-*.in")):
            target = HERE / f"{source.stem.removeprefix('ros-')}.txt"
            command = [str(Path(folder, "bin", "uv")), "pip", "compile", "--quiet", "--universal"]
            command += ["--python-version", OLDEST_PYTHON, "--no-annotate", "--no-header"]
            command += [str(source), str(HERE / "project.in")]
            result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            resolved = result.stdout
            inputs = f"{source.name} and project.in, for CPython {OLDEST_PYTHON} and later"
            target.write_text(f"# What `make lock` resolved from {inputs}.\n{resolved}")
            sys.stdout.write(f"{target.name}: {len(resolved.splitlines())} packages\n")


if __name__ == "__main__":
    main()
