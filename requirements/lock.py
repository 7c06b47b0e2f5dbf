"""Resolve requirements/*.in into the lock files: `make lock`, then review the difference."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESOLVER = HERE / "installer.txt"
OLDEST_PYTHON = "3.11"


def locks() -> dict[str, list[str]]:
    """Return the input files of each lock file: by distribution, of the training and of LeRobot."""
    names = [source.name for source in sorted(HERE.glob("ros-*.in"))]
    distributions = {
        f"{name.removeprefix('ros-').removesuffix('.in')}.txt": [name, "project.in"]
        for name in names
    }
    return {**distributions, "training.txt": ["training.in"], "lerobot.txt": ["lerobot.in"]}


def main() -> None:
    """Write the lock files, or those named as arguments."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", RESOLVER], check=True)
        for name, sources in locks().items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            command = [str(Path(folder, "bin", "uv")), "pip", "compile", "--quiet", "--universal"]
            command += ["--python-version", OLDEST_PYTHON, "--no-annotate", "--no-header"]
            command += [str(HERE / source) for source in sources]
            result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            resolved = result.stdout
            inputs = f"{' and '.join(sources)}, for CPython {OLDEST_PYTHON} and later"
            text = f"# What `make lock` resolved from {inputs}.\n{resolved}"
            (HERE / name).write_text(text)
            sys.stdout.write(f"{name}: {len(resolved.splitlines())} packages\n")


if __name__ == "__main__":
    main()
