"""Write docs/reference/public_robots.md: how robots of public collections load and stand.

Run by hand: ``docs/public_robots.py [--folder NAME=PATH …]``. The collections are Python packages
that are installed, and folders. Results are kept in ``$XDG_CACHE_HOME/mujoco_ros``, so that an
interrupted run continues, and ``--again`` repeats.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from public_robots_page import page

from mujoco_ros.model.output_files import write_whole
from mujoco_ros.model.scene.robot_collections import folder_name

HERE = Path(__file__).resolve().parent
PAGE = HERE / "reference" / "public_robots.md"
PACKAGES = (
    *("example-robot-data", "gymnasium", "gymnasium-robotics", "robosuite", "dm-control"),
    "myosuite",
)
LIMIT_S = 900.0
"""Wall time of a robot, on a machine that is busy with other programs."""
SIMULATION_S = 120.0
"""Processor time of its simulation."""
_INCLUDE = re.compile(r"<include\s+file=\"([^\"]+)\"")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A model of a collection; `name` is unique in it."""

    collection: str
    name: str
    path: Path

    @property
    def key(self) -> str:
        """Return the key of the results."""
        return f"{self.collection}:{self.name}"


def main() -> None:
    """Try the robots that have no result yet, and write the page."""
    options = _parser().parse_args()
    robots = [
        robot
        for name, path in _collections(options.folder)
        for robot in find_robots(name, path)
        if options.only in robot.key
    ]
    store = results_file()
    results: dict[str, dict[str, Any]] = {}
    if store.is_file():
        results = json.loads(store.read_text(encoding="utf-8"))
    missing = [robot for robot in robots if options.again or robot.key not in results]
    if options.list:
        sys.exit("\n".join(robot.key for robot in robots))
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(_try, robot): robot for robot in missing}
        for count, future in enumerate(as_completed(running), 1):
            robot = running[future]
            results[robot.key] = future.result()
            _write(store, json.dumps(results, indent=1))
            left = (time.monotonic() - began) / count * (len(missing) - count)
            outcome = results[robot.key].get("refused", "loads")
            sys.stderr.write(
                f"{count} of {len(missing)}, {left:.0f} s left: {robot.key}: {outcome}\n"
            )
    if not options.only:
        found = [(robot.collection, robot.name, results[robot.key]) for robot in robots]
        _write(PAGE, page(found))


def results_file() -> Path:
    """Return the file of the results."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(home) / "mujoco_ros" / "public_robots.json"


def find_robots(collection: str, folder: Path) -> Iterator[Robot]:
    """Yield the URDFs of a folder, and its MJCFs with joints and actuators.

    A file that another one includes is part of that one, and no robot of its own.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".urdf", ".xml")]
    texts = {
        path.resolve(): _COMMENT.sub("", path.read_text(errors="replace"))
        for path in files
        if path.is_file()
    }
    included = {
        (path.parent / name).resolve()
        for path, text in texts.items()
        for name in _INCLUDE.findall(text)
    }
    found = [
        path
        for path, text in texts.items()
        if path.suffix == ".urdf" or (path not in included and _is_robot(path, text, texts))
    ]
    for path in found:
        parts = path.relative_to(folder.resolve()).with_suffix("").parts
        short = f"{folder_name(path)}/{path.stem}"
        same = [other for other in found if other.stem == path.stem]
        alike = [other for other in same if folder_name(other) == folder_name(path)]
        name = path.stem if len(same) == 1 else short if len(alike) == 1 else "/".join(parts)
        yield Robot(collection=collection, name=name, path=path)


def _is_robot(path: Path, text: str, texts: dict[Path, str]) -> bool:
    """Whether an MJCF has joints and actuators, also in files that it includes."""
    if not re.search(r"<mujoco\b", text):
        return False
    whole, pending, seen = "", [path], set()
    while pending:
        file = pending.pop()
        if file in seen or file not in texts:
            continue
        seen.add(file)
        whole += texts[file]
        pending += [(path.parent / name).resolve() for name in _INCLUDE.findall(texts[file])]
    return bool(re.search(r"<actuator>", whole) and re.search(r"<(free)?joint\b", whole))


def _collections(folders: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of the installed packages and of the given folders."""
    for package in PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            sys.stderr.write(f"{package} is not installed, and left out\n")
            continue
        models = [Path(str(it.locate())) for it in files if it.suffix in (".urdf", ".xml")]
        if models:
            yield package, Path(os.path.commonpath([path.resolve() for path in models]))
    for folder in folders:
        name, equals, path = folder.partition("=")
        if not equals or not Path(path).is_dir():
            sys.exit(f"--folder {folder}: expected NAME=PATH of a folder")
        yield name, Path(path)


def _try(robot: Robot) -> dict[str, Any]:
    """Return the results of a robot, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, HERE / "robot_trial.py", robot.path, report]
        try:
            process = subprocess.run(
                [*map(str, command), str(SIMULATION_S)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return {"refused": f"not loaded after {LIMIT_S:g} s"}
        if report.is_file():
            result: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
            return _without_folder(result, robot)
        last = process.stderr.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        return {"refused": f"the process ended: {last[0]}", "crashed": True}


def _without_folder(result: dict[str, Any], robot: Robot) -> dict[str, Any]:
    """Remove the path of the model from messages; it differs between machines."""
    if "refused" in result:
        for folder in (f"{robot.path}: ", f"{robot.path.parent}/"):
            result["refused"] = result["refused"].replace(folder, "")
    return result


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Try robots of public collections.")
    parser.add_argument(
        "--folder",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a further collection, such as a clone of mujoco_menagerie; may be repeated",
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="robots whose name contains it")
    parser.add_argument("--again", action="store_true", help="also robots that have results")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time; default: 2")
    parser.add_argument("--list", action="store_true", help="list the robots, and end")
    return parser


if __name__ == "__main__":
    main()
