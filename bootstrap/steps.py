"""Steps of the set-up, and the record of completed ones."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bootstrap.machine import (
    PYTHON_VERSION,
    check_disk,
    clean_environment,
    foreign_distribution,
    missing_build_packages,
    missing_rendering_packages,
)
from bootstrap.progress import Log, SetupError

ROOT = Path(__file__).resolve().parents[1]
# installed by setup.py into share/mujoco_ros
SHARED = ("config", "launch", "package.xml", "urdf_mjcf")
NATIVE = ROOT / "mujoco_ros" / "native"

SELF_CHECK = """
import control_msgs.action, controller_manager_msgs.srv, cv_bridge, ros_gz_interfaces.msg
import simulation_interfaces.srv, tf2_msgs.msg, tf2_ros
import mujoco_ros.cli.sim, rclpy
rclpy.init()
rclpy.create_node("self_check").create_publisher(tf2_msgs.msg.TFMessage, "tf", 1)
rclpy.shutdown()
"""


class Setup:
    """The steps that set up a virtual environment for a ROS distribution.

    Args:
        ros: A distribution with a lock file in requirements/.
        venv: Path of the environment.
        log: Progress output.
        apt: Whether missing system packages may be installed.
        exact: Whether an existing environment of another Python version is replaced.
        models: Whether the robot models of the tests are installed too.
        interfaces: A folder of overlay/simulation_interfaces: this version of the package is built
            too, into a folder of the environment; empty for none.
    """

    def __init__(
        self,
        ros: str,
        venv: Path,
        log: Log,
        *,
        apt: bool,
        exact: bool,
        models: bool = False,
        interfaces: str = "",
    ) -> None:
        self.ros = ros
        self.venv = venv
        self.log = log
        self.apt = apt
        self.exact = exact
        self.models = models
        self.interfaces = interfaces
        self.python = venv / "bin" / "python"
        self.build = ROOT / "build" / f"overlay-{ros}"
        self.lock_file = ROOT / "requirements" / f"{ros}.txt"
        self.models_file = ROOT / "requirements" / "models.txt"
        self.installer_file = ROOT / "requirements" / "installer.txt"
        self.environment = clean_environment(venv)
        self._record_path = venv / "mujoco_ros_setup.json"
        self._processes: list[subprocess.Popen[str]] = []
        self._detail = ""

    # ---- the steps -------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the steps whose inputs changed."""
        wanted = self.fingerprints()
        done = self.record() if self.venv_is_usable() else {}
        steps: dict[str, Callable[[], None]] = {
            "virtual environment": self.make_venv,
            "packages": self.install_packages,
            "overlay": self.build_overlay,
            "native part": self.build_native,
            "project": self.link_project,
        }
        if self.models:
            steps["robot models"] = self.install_models
        if self.interfaces:
            steps[f"simulation_interfaces {self.interfaces}"] = self.build_interfaces
        if not any(NATIVE.glob("*.so")):
            done.pop("native part", None)
        stale = [name for name in steps if done.get(name) != wanted[name]]
        if not stale:
            return
        sourced = foreign_distribution()
        if sourced:
            self.log.line(f"ROS {sourced} is sourced here; {self.venv.name} does not use it")
        self.step("system packages", 1, len(stale) + 1, self.check_system)
        for number, name in enumerate(stale, start=2):
            self.record(name, "begun")
            self.step(name, number, len(stale) + 1, steps[name])
            self.record(name, wanted[name])

    def fingerprints(self) -> dict[str, str]:
        """Return a digest of the inputs of each step and the steps before it."""
        venv = digest([str(self.venv), str(ROOT)])
        packages = digest([venv, *contents([self.installer_file, self.lock_file])])
        overlay = digest([packages, *contents(sorted((ROOT / "overlay").rglob("*")))])
        project = digest([overlay, SELF_CHECK, *SHARED])
        return {
            "virtual environment": venv,
            "packages": packages,
            "overlay": overlay,
            "native part": digest(
                [packages, *contents([ROOT / "setup.py", *sorted(NATIVE.glob("*.[ch]"))])]
            ),
            "project": project,
            "robot models": digest([packages, *contents([self.models_file])]),
            f"simulation_interfaces {self.interfaces}": overlay,
        }

    def venv_is_usable(self) -> bool:
        """Return whether the environment exists with its interpreter."""
        versions = [path.name for path in self.venv.glob("lib/python3.*")]
        return self.python.exists() and (f"python{PYTHON_VERSION}" in versions or not self.exact)

    def record(self, step: str | None = None, fingerprint: str = "") -> dict[str, str]:
        """Return the recorded digest of each step, after recording one of them."""
        try:
            done: dict[str, str] = json.loads(self._record_path.read_text())
        except (OSError, ValueError):
            done = {}
        if step and self.venv.is_dir():
            done[step] = fingerprint
            temporary = self._record_path.with_suffix(".new")
            temporary.write_text(json.dumps(done, indent=1))
            temporary.replace(self._record_path)
        return done

    def check_system(self) -> None:
        """Install missing system packages if possible; otherwise report them."""
        needed = missing_build_packages()
        optional = missing_rendering_packages()
        if not needed and not optional:
            return
        wanted = [*needed, *optional]
        if self.apt and os.geteuid() == 0 and shutil.which("apt-get"):
            self.log.line(f"      installing {' '.join(wanted)} with apt-get")
            quiet = dict(self.environment, DEBIAN_FRONTEND="noninteractive")
            with (ROOT / "build" / "apt.lock").open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # another set-up may run
                self.command(["apt-get", "update", "-q"], env=quiet)
                self.command(
                    ["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted],
                    env=quiet,
                )
            if not missing_build_packages():
                return
        install = "sudo apt-get install " + " ".join(wanted)
        if needed:
            raise SetupError(
                f"missing system packages: {', '.join(needed)}. Install with:\n    {install}"
            )
        missing = ", ".join(optional)
        self.log.line(f"      without {missing}, cameras cannot render. Install with: {install}")

    def make_venv(self) -> None:
        """Create the virtual environment, replacing an existing one."""
        shutil.rmtree(self.venv, ignore_errors=True)
        # The environment of this interpreter may be the removed one.
        interpreter = getattr(sys, "_base_executable", sys.executable)
        self.command([interpreter, "-m", "venv", str(self.venv)])

    def install_packages(self) -> None:
        """Install the packages of the lock file."""
        check_disk(self.venv.parent)
        discard_half_installed(self.site_packages())
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        self.command([*pip, "install", "--no-deps", "-r", str(self.installer_file)])
        self.install(self.lock_file)

    def install_models(self) -> None:
        """Install the robot models of the tests."""
        self.install(self.models_file)

    def install(self, requirements: Path) -> None:
        """Install the packages of a file; it is complete, so no dependencies are resolved."""

        def show(line: str) -> None:
            # "Downloading numpy (16.1MiB)", " Downloaded numpy", "Prepared 160 packages in 5s"
            self.progress(line.strip())

        install = [str(self.venv / "bin" / "uv"), "pip", "install", "--no-deps"]
        install += ["--python", str(self.python), "-r", str(requirements)]
        self.command(install, env=self.environment_of_uv(), on_line=show)

    def environment_of_uv(self) -> dict[str, str]:
        """Return the environment for uv, with the package index of pip."""
        index = self.environment.get("PIP_INDEX_URL", "")
        if not index:
            command = [str(self.python), "-m", "pip", "config", "get", "global.index-url"]
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
            index = done.stdout
        return {**({"UV_DEFAULT_INDEX": index.strip()} if index else {}), **self.environment}

    def build_overlay(self) -> None:
        """Build and install the packages of overlay/ in parallel."""
        for manifest in sorted(self.build.glob("*/install_manifest.txt")):
            for installed in map(Path, manifest.read_text().splitlines()):
                if installed.is_relative_to(self.venv):
                    installed.unlink(missing_ok=True)
                    if installed.parent.suffix == ".egg-info":
                        with suppress(OSError):  # not empty yet
                            installed.parent.rmdir()  # it would count as a package
        shutil.rmtree(self.build, ignore_errors=True)
        # Longest first, for an even distribution.
        sources = sorted(
            (path.parent for path in (ROOT / "overlay").glob("*/CMakeLists.txt")),
            key=lambda source: -sum(1 for _ in source.rglob("*")),
        )
        finished: list[str] = []
        compiling: dict[str, str] = {}  # how far each package is

        def show() -> None:
            present = ", ".join(f"{name} {share}" for name, share in [*compiling.items()])
            self.progress(f"{len(finished)}/{len(sources)} {present}")

        def build(source: Path) -> None:
            def follow(line: str) -> None:
                if share := re.match(r"\[(\d+/\d+)\]", line):
                    compiling[source.name] = share[1]
                    show()

            self.build_package(source, on_line=follow)
            compiling.pop(source.name, None)
            finished.append(source.name)
            show()

        show()
        pool = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2))
        try:
            for result in [pool.submit(build, source) for source in sources]:
                result.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self.stop()
            raise
        finally:
            pool.shutdown()

    def build_native(self) -> None:
        """Compile what a step does in C, beside its source."""
        folder = self.build.with_name(f"native-{self.ros}")
        # An older result would hide that nothing was compiled.
        shutil.rmtree(folder, ignore_errors=True)
        folders = ["--build-temp", str(folder), "--build-lib", str(folder)]
        self.command([str(self.python), "setup.py", "-q", "build_ext", *folders])
        compiled = list((folder / NATIVE.relative_to(ROOT)).glob("*.so"))
        if not compiled:
            raise SetupError(f"setup.py compiled nothing in {folder}; is a C compiler installed?")
        for library in compiled:  # at once: another set-up of this tree may run
            library.replace(NATIVE / library.name)

    def build_interfaces(self) -> None:
        """Build and install another version of simulation_interfaces, apart from the others."""
        source = ROOT / "overlay" / "simulation_interfaces"
        versions = sorted(path.parent.name for path in source.glob("*/srv"))
        if self.interfaces not in versions:
            raise SetupError(
                f"simulation_interfaces {self.interfaces} is unknown; there is: "
                f"{', '.join(versions)}"
            )
        name = f"{source.name}-{self.interfaces}"
        shutil.rmtree(self.build / name, ignore_errors=True)
        shutil.rmtree(self.venv / name, ignore_errors=True)
        self.build_package(source, self.venv / name, "python", variant=self.interfaces)

    def build_package(
        self,
        source: Path,
        prefix: Path | None = None,
        site: str = "",
        variant: str = "",
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Configure, build and install one CMake package into the virtual environment.

        Args:
            source: Its folder.
            prefix: Where it is installed; None is the environment.
            site: Folder for Python modules below `prefix`; empty is the environment's own.
            variant: Folder of `source` with files that replace others; empty is the distribution.
            on_line: Called with each line of the build.
        """
        prefix = prefix or self.venv
        site = site or str(self.site_packages().relative_to(self.venv))
        build = self.build / (source.name if prefix == self.venv else prefix.name)
        configure = [str(self.venv / "bin" / "cmake"), "-S", str(source), "-B", str(build)]
        configure += ["-G", "Ninja", "-Wno-dev", "-DBUILD_TESTING=OFF"]
        configure += [f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DPython3_EXECUTABLE={self.python}"]
        configure += [f"-DPYTHON_INSTALL_DIR={site}", f"-DVARIANT={variant or self.ros}"]
        configure += ["-DCMAKE_C_FLAGS=-O0 -g0", "-DCMAKE_CXX_FLAGS=-O0 -g0"]  # fast to build
        self.command(configure)
        jobs = f"-j{os.cpu_count() or 2}"
        ninja = [str(self.venv / "bin" / "ninja"), "-C", str(build), jobs, "install"]
        self.command(ninja, on_line=on_line)

    def link_project(self) -> None:
        """Link this tree into the environment, and check that it can be imported."""
        share = self.venv / "share"
        index = share / "ament_index" / "resource_index" / "packages"
        index.mkdir(parents=True, exist_ok=True)
        (index / "mujoco_ros").touch()
        # No path entry: that would add `launch`, `test` and `config` to sys.path as well.
        (share / "mujoco_ros").mkdir(exist_ok=True)
        links = {share / "mujoco_ros" / name: ROOT / name for name in SHARED}
        links[self.site_packages() / "mujoco_ros"] = ROOT / "mujoco_ros"
        for link, target in links.items():
            link.unlink(missing_ok=True)
            link.symlink_to(target)
        self.command([str(self.python), "-c", SELF_CHECK], cwd=self.venv)

    # ---- execution --------------------------------------------------------------------------

    def step(self, name: str, number: int, total: int, action: Callable[[], None]) -> None:
        """Run one step, and show its name and time."""
        head = f"[{number}/{total}] {name}"
        self._detail = ""
        over = threading.Event()
        began = time.monotonic()

        def tick() -> None:
            while not over.wait(0.2):
                self.log.status(head, time.monotonic() - began, self._detail)

        ticker = threading.Thread(target=tick, daemon=True)
        self.log.write(f"\n=== {name}\n")
        ticker.start()
        try:
            action()
        finally:
            over.set()
            ticker.join()
        self.log.line(f"{head:<28}{time.monotonic() - began:6.1f} s")

    def progress(self, detail: str) -> None:
        """Show `detail` after the name of the running step."""
        self._detail = detail

    def command(
        self,
        command: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        cwd: Path = ROOT,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Run a command with its output in the log; on failure, raise SetupError with its end."""
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
        )
        self._processes.append(process)
        output: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            self.log.write(line)
            if on_line:
                on_line(line)
        if process.wait() != 0:
            tail = "".join("    " + line for line in output[-25:])
            start = " ".join([Path(command[0]).name, *command[1:4]])
            raise SetupError(f"`{start} ...` failed:\n{tail}")

    def stop(self) -> None:
        """Terminate running processes."""
        for process in self._processes:
            if process.poll() is None:
                process.terminate()

    def site_packages(self) -> Path:
        """Return the virtual environment's site-packages."""
        return next(self.venv.glob("lib/python3.*/site-packages"))


def discard_half_installed(site: Path) -> None:
    """Remove packages whose installation was interrupted, as they would count as installed."""
    for metadata in site.glob("*.dist-info"):
        if not (metadata / "RECORD").is_file() or not (metadata / "INSTALLER").is_file():
            shutil.rmtree(metadata)


def contents(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the names and contents of the files in `paths`."""
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{path.relative_to(ROOT)}\n{path.read_text(errors='replace')}"


def digest(parts: Sequence[str]) -> str:
    """Return a digest of all `parts`."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
