#!/usr/bin/env python3
"""Set mujoco_ros up in a virtual environment of its own, ROS 2 included: `make setup` in one file.

Needs nothing but the standard library.  Every step remembers what it was made from and is skipped while
that has not changed, so a second run costs nothing and an interrupted one resumes where it stopped.
"""

# This file must parse, and say what is wrong, on any Python 3.
from __future__ import annotations

import argparse
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Callable, Dict, Iterator, List, Optional, Sequence

ROOT = Path(__file__).resolve().parent
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)  # the ROS wheels exist for CPython 3.10 to 3.14
FREE_DISK_GB = 3  # the virtual environment takes 1.6, pip's cache and the overlay's build the rest

# What a sourced ROS distribution, another virtual environment or the user's shell would mix into ours.
FOREIGN_VARIABLES = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "COLCON_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "RMW_IMPLEMENTATION",
    "ROS_DISTRO",
    "ROS_PYTHON_VERSION",
    "ROS_VERSION",
    "VIRTUAL_ENV",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)
SHARED = ("config", "launch", "package.xml", "urdf_mjcf")  # what setup.py installs into share/mujoco_ros
RENDERING_LIBRARIES = {"libEGL.so.1": "libegl1", "libGL.so.1": "libgl1"}


class SetupError(Exception):
    """Something the user can act on; shown without a traceback."""


class Log:
    """Progress for people on the terminal, everything else in a file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.file: IO[str] = path.open("w", encoding="utf-8", errors="replace")
        self._live = sys.stdout.isatty()
        self._lock = threading.Lock()

    def line(self, text: str) -> None:
        """Print a line for good."""
        with self._lock:
            print(("\r\033[K" if self._live else "") + text, flush=True)

    def status(self, text: str) -> None:
        """Overwrite the current line of a terminal; say nothing elsewhere."""
        if self._live:
            with self._lock:
                width = shutil.get_terminal_size().columns - 1
                print("\r\033[K" + text[:width], end="", flush=True)

    def write(self, text: str) -> None:
        """Write to the file alone."""
        with self._lock:
            self.file.write(text)
            self.file.flush()


class Setup:
    """One virtual environment for one ROS distribution, and the steps that fill it."""

    def __init__(self, ros: str, venv: Path, log: Log, *, apt: bool) -> None:
        self.ros = ros
        self.venv = venv
        self.log = log
        self.apt = apt
        self.python = venv / "bin" / "python"
        self.build = ROOT / "build" / f"overlay-{ros}"
        self.lock_file = ROOT / "requirements" / f"{ros}.txt"
        self.models_file = ROOT / "requirements" / "models.txt"
        self.environment = clean_environment(venv)
        self._record_path = venv / "mujoco_ros_setup.json"
        self._processes: List[subprocess.Popen[str]] = []
        self._began = time.monotonic()

    # ---- the steps -------------------------------------------------------------------------------

    def run(self) -> bool:
        """Run every step whose inputs changed; return whether there was one."""
        wanted = self.fingerprints()
        done = self.record()
        steps: Dict[str, Callable[[], None]] = {
            "virtual environment": self.make_venv,
            "packages": self.install_packages,
            "overlay": self.build_overlay,
            "project": self.link_project,
        }
        stale = [name for name in steps if done.get(name) != wanted[name]]
        if not stale:
            return False
        report_foreign_environment(self.log)
        self.step("system packages", 0, len(stale), self.check_system)
        for number, name in enumerate(stale, start=1):
            self.step(name, number, len(stale), steps[name])
            self.record(name, wanted[name])
        return True

    def fingerprints(self) -> Dict[str, str]:
        """Return, step by step, a digest of everything the step is made from.  Later ones hold earlier ones."""
        interpreter = f"{sys.version}|{os.path.realpath(sys.executable)}|{self.venv}|{ROOT}"
        venv = digest([interpreter])
        packages = digest([venv, *contents([self.lock_file, self.models_file])])
        overlay = digest([packages, self.ros, *contents(sorted((ROOT / "overlay").rglob("*")))])
        project = digest([venv, packages, overlay, SELF_CHECK, *SHARED])
        return {
            "virtual environment": venv,
            "packages": packages,
            "overlay": overlay,
            "project": project,
        }

    def record(self, step: Optional[str] = None, fingerprint: str = "") -> Dict[str, str]:
        """Return what is done, after noting that `step` is."""
        try:
            done: Dict[str, str] = json.loads(self._record_path.read_text())
        except (OSError, ValueError):
            done = {}
        if step:
            done[step] = fingerprint
            temporary = self._record_path.with_suffix(".new")
            temporary.write_text(json.dumps(done, indent=1))
            temporary.replace(self._record_path)
        return done

    def check_system(self) -> None:
        """Name what the system lacks; install it where that is possible."""
        needed = missing_build_packages()
        optional = missing_rendering_packages()
        if not needed and not optional:
            return
        wanted = [*needed, *optional]
        if self.apt and os.geteuid() == 0 and shutil.which("apt-get"):
            self.log.line(f"      installing {' '.join(wanted)} with apt-get")
            quiet = dict(self.environment, DEBIAN_FRONTEND="noninteractive")
            self.command(["apt-get", "update", "-q"], env=quiet)
            self.command(
                ["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted], env=quiet
            )
            if not missing_build_packages():
                return
        install = "sudo apt-get install " + " ".join(wanted)
        if needed:
            raise SetupError(f"the system lacks {', '.join(needed)}. Install with:\n    {install}")
        self.log.line(f"      without {', '.join(optional)} no camera is rendered. Install with: {install}")

    def make_venv(self) -> None:
        """Create the virtual environment afresh."""
        shutil.rmtree(self.venv, ignore_errors=True)
        check_disk(self.venv.parent)
        self.command([sys.executable, "-m", "venv", str(self.venv)])

    def install_packages(self) -> None:
        """Install exactly what the lock file names."""
        check_disk(self.venv.parent)
        discard_half_installed(self.site_packages())
        total = sum(1 for _ in requirements(self.lock_file, self.models_file))
        seen = 0

        def show(line: str) -> None:
            nonlocal seen
            if line.startswith(("Collecting ", "Requirement already satisfied: ")):
                seen += 1
                self.progress(f"{seen}/{total} {line.partition(': ')[2] or line.split()[1]}")
            elif line.startswith("Installing collected packages"):
                self.progress("unpacking")

        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        # The lock file is the whole closure, so nothing may be resolved beside it.
        pip += ["--no-deps", "--no-warn-script-location", "--prefer-binary"]
        pip += ["--progress-bar", "off", "-r", str(self.lock_file), "-r", str(self.models_file)]
        self.command(pip, on_line=show)

    def build_overlay(self) -> None:
        """Build and install the packages of overlay/, several at a time."""
        for tool in ("cmake", "ninja"):
            if not (self.venv / "bin" / tool).exists():
                raise SetupError(f"{tool} is not in {self.venv}: run `make clean` and try again")
        for manifest in sorted(self.build.glob("*/install_manifest.txt")):
            for installed in manifest.read_text().splitlines():
                if Path(installed).is_relative_to(self.venv):
                    Path(installed).unlink(missing_ok=True)
        shutil.rmtree(self.build, ignore_errors=True)
        # Longest first, so that the short ones fill up the rest.
        sources = sorted(
            (path.parent for path in (ROOT / "overlay").glob("*/CMakeLists.txt")),
            key=lambda source: -sum(1 for _ in source.rglob("*")),
        )
        finished: List[str] = []

        def build(source: Path) -> None:
            self.build_package(source)
            finished.append(source.name)
            self.progress(f"{len(finished)}/{len(sources)} {source.name}")

        self.progress(f"0/{len(sources)}")
        with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
            for result in [pool.submit(build, source) for source in sources]:
                result.result()

    def build_package(self, source: Path) -> None:
        """Configure, build and install one CMake package into the virtual environment."""
        build = self.build / source.name
        site = self.site_packages().relative_to(self.venv)
        self.command(
            ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", "-Wno-dev", "-DBUILD_TESTING=OFF"]
            + [f"-DCMAKE_INSTALL_PREFIX={self.venv}", f"-DPython3_EXECUTABLE={self.python}"]
            + [f"-DPYTHON_INSTALL_DIR={site}", f"-DROS_DISTRO={self.ros}"]
            # Optimizing more makes the build longer and conversions no faster.
            + ["-DCMAKE_C_FLAGS=-O1 -g0", "-DCMAKE_CXX_FLAGS=-O1 -g0"]
        )
        self.command(["ninja", "-C", str(build), f"-j{os.cpu_count() or 2}", "install"])

    def link_project(self) -> None:
        """Make this tree importable, and its share folder findable, from any directory; then try it."""
        share = self.venv / "share"
        index = share / "ament_index" / "resource_index" / "packages"
        index.mkdir(parents=True, exist_ok=True)
        (index / "mujoco_ros").touch()
        # Links rather than a path entry: a path entry would also put `launch`, `test` and `config` on sys.path.
        (share / "mujoco_ros").mkdir(exist_ok=True)
        links = {share / "mujoco_ros" / name: ROOT / name for name in SHARED}
        links[self.site_packages() / "mujoco_ros"] = ROOT / "mujoco_ros"
        for link, target in links.items():
            link.unlink(missing_ok=True)
            link.symlink_to(target)
        self.command([str(self.python), "-c", SELF_CHECK], cwd=self.venv)

    # ---- running things --------------------------------------------------------------------------

    def step(self, name: str, number: int, total: int, action: Callable[[], None]) -> None:
        """Run one step with its name and time shown."""
        head = f"[{number}/{total}] {name}"
        began = time.monotonic()
        self._detail = ""
        over = threading.Event()

        def tick() -> None:
            while not over.wait(0.2):
                self.log.status(f"{head} {time.monotonic() - began:4.0f} s  {self._detail}")

        ticker = threading.Thread(target=tick, daemon=True)
        self.log.write(f"\n=== {name}\n")
        self.log.status(head)
        ticker.start()
        try:
            action()
        finally:
            over.set()
            ticker.join()
        self.log.line(f"{head:<28}{time.monotonic() - began:6.1f} s")

    def progress(self, detail: str) -> None:
        """Show `detail` behind the running step."""
        self._detail = detail

    def command(
        self,
        command: Sequence[str],
        *,
        env: Optional[Dict[str, str]] = None,
        cwd: Path = ROOT,
        on_line: Optional[Callable[[str], None]] = None,
    ) -> None:
        """Run a command with its output in the log; raise SetupError with the output's end if it fails."""
        self.log.write(f"$ {shlex.join(command)}\n")
        process = subprocess.Popen(
            command,
            env=env or self.environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._processes.append(process)
        output: List[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            self.log.write(line)
            if on_line:
                on_line(line)
        if process.wait() != 0:
            tail = "".join("    " + line for line in output[-25:])
            raise SetupError(f"`{Path(command[0]).name} {' '.join(command[1:4])} ...` failed:\n{tail}")

    def stop(self) -> None:
        """End whatever still runs."""
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)

    def site_packages(self) -> Path:
        """Return the virtual environment's site-packages."""
        return self.venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


SELF_CHECK = """
import control_msgs.action, cv_bridge, mujoco, rclpy, sensor_msgs.msg, simulation_interfaces.srv, tf2_ros
import mujoco_ros
rclpy.init()
rclpy.shutdown()
"""


def clean_environment(venv: Path) -> Dict[str, str]:
    """Return this process's environment for work inside `venv` and nothing beside it."""
    environment = {k: v for k, v in os.environ.items() if k not in FOREIGN_VARIABLES}
    environment["PATH"] = f"{venv / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    environment["AMENT_PREFIX_PATH"] = str(venv)
    environment["PYTHONNOUSERSITE"] = "1"
    return environment


def report_foreign_environment(log: Log) -> None:
    """Say that a sourced ROS distribution is left out."""
    if os.environ.get("AMENT_PREFIX_PATH") or "/opt/ros/" in os.environ.get("PYTHONPATH", ""):
        name = os.environ.get("ROS_DISTRO", "")
        log.line(f"a ROS distribution {name} is sourced; it is left out of this virtual environment".replace("  ", " "))


def missing_build_packages() -> List[str]:
    """Return the Debian packages without which nothing can be built."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    # Debian's own interpreter is served by its generic packages, another version by its numbered ones.
    own = os.path.realpath("/usr/bin/python3") == os.path.realpath(sys.executable)
    stem = "python3" if own else f"python{version}"
    missing = []
    if not any(shutil.which(compiler) for compiler in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        missing.append("g++")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        missing.append(f"{stem}-dev")
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        missing.append(f"{stem}-venv")
    return missing


def missing_rendering_packages() -> List[str]:
    """Return the Debian packages without which MuJoCo renders no image."""
    missing = []
    for library, package in RENDERING_LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing


def check_machine() -> None:
    """Refuse, in one sentence, a machine that has no ROS wheels."""
    version = sys.version_info[:2]
    span = f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} to {NEWEST_PYTHON[0]}.{NEWEST_PYTHON[1]}"
    if not OLDEST_PYTHON <= version <= NEWEST_PYTHON or platform.python_implementation() != "CPython":
        found = f"{platform.python_implementation()} {version[0]}.{version[1]}"
        raise SetupError(
            f"CPython {span} is needed, {sys.executable} is {found}. "
            "Name another one with `make PYTHON=/path/to/python3.x`."
        )
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            f"ROS 2 comes as wheels for Linux on x86_64 only, this is {sys.platform} on {platform.machine()}. "
            "With a ROS 2 distribution installed, build this package with colcon instead."
        )


def check_disk(where: Path) -> None:
    """Refuse to start what would fill the disk."""
    free = shutil.disk_usage(where).free / 1e9
    if free < FREE_DISK_GB:
        raise SetupError(f"{where} has {free:.1f} GB free, the set-up takes {FREE_DISK_GB} GB")


def newer_python() -> Optional[str]:
    """Return a supported interpreter on PATH, newest first."""
    names = [f"python3.{minor}" for minor in range(NEWEST_PYTHON[1], OLDEST_PYTHON[1] - 1, -1)]
    return next((path for path in map(shutil.which, names) if path), None)


def discard_half_installed(site: Path) -> None:
    """Forget the packages whose installation was interrupted: pip would take them for installed."""
    for metadata in site.glob("*.dist-info"):
        if not (metadata / "RECORD").is_file() or not (metadata / "INSTALLER").is_file():
            shutil.rmtree(metadata)


def requirements(*files: Path) -> Iterator[str]:
    """Yield the requirements of pip's files."""
    for file in files:
        for line in file.read_text().splitlines():
            if line.split("#")[0].strip():
                yield line


def contents(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the names and contents of the files among `paths`."""
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{path.relative_to(ROOT)}\n{path.read_text(errors='replace')}"


def digest(parts: Sequence[str]) -> str:
    """Return one digest of all `parts`."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def distributions() -> List[str]:
    """Return the ROS distributions there is a lock file for, the default one first."""
    names = [path.stem[len("ros-") :] for path in (ROOT / "requirements").glob("ros-*.in")]
    return sorted(names)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Parse the command line and run the set-up."""
    parser = argparse.ArgumentParser(description="Set mujoco_ros up in a virtual environment.")
    parser.add_argument("--ros", default="jazzy", metavar="DISTRO", help="jazzy (default) or kilted")
    parser.add_argument("--venv", type=Path, help="default: .venv, or .venv-DISTRO for another than Jazzy")
    parser.add_argument("--no-apt", action="store_true", help="never install system packages")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        if options.ros not in distributions():
            raise SetupError(f"ROS={options.ros} is unknown; there are: {', '.join(distributions())}")
        if sys.version_info[:2] < OLDEST_PYTHON and newer_python():
            os.execv(newer_python() or "", [newer_python() or "", __file__, *sys.argv[1:]])
        check_machine()
    except SetupError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    venv = (options.venv or ROOT / (".venv" if options.ros == "jazzy" else f".venv-{options.ros}")).absolute()
    log = Log(ROOT / "build" / f"setup-{options.ros}.log")
    setup = Setup(options.ros, venv, log, apt=not options.no_apt)
    with (ROOT / "build" / f"setup-{options.ros}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two at once would spoil each other's work
        try:
            if setup.run():
                log.line(f"{venv.name} is ready: ROS 2 {options.ros}, {time.monotonic() - began:.0f} s")
        except SetupError as error:
            setup.stop()
            log.line(f"set-up failed: {error}\nThe whole log: {log.path}")
            return 1
        except KeyboardInterrupt:
            setup.stop()
            log.line("set-up interrupted; run it again to go on")
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
