"""Shared set-up: worker processes, a private ROS domain and a node."""

import logging
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from benchmark.domains import Domain
from mujoco_ros.process import end_limit

# Reserved until this process ends, and set before anything imports rclpy.
_DOMAIN = Domain()
os.environ["ROS_DOMAIN_ID"] = str(_DOMAIN.id)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
for _variable in ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "RMW_IMPLEMENTATION"):
    os.environ.pop(_variable, None)
# Viewers of tests begin without the settings of other viewers.
_STATE = TemporaryDirectory(prefix="mujoco_ros_state_")
os.environ["XDG_STATE_HOME"] = _STATE.name
# Tests start many processes, each of which would compile its imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Files already run in parallel; threads of linear algebra would only wait for a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    import rclpy
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
except ModuleNotFoundError as error:
    MISSING = f"ROS 2 is not installed here ({error}); `make setup` installs it"
else:
    MISSING = ""
    _FAST_DDS = {
        name: str(Path(__file__).parent / "support" / "fast_dds.xml")
        for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
    }
    # Read once, by the first participant of this process; the processes of tests have defaults.
    os.environ |= _FAST_DDS
    with Context() as _context:
        rclpy.create_node("middleware_settings", context=_context).destroy_node()
    for _variable in _FAST_DDS:
        del os.environ[_variable]

# The duration of an example depends on the load of the machine.
settings.register_profile(
    "no_deadline", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no_deadline")

SpinUntil = Callable[..., bool]

_HERE = Path(__file__).resolve().parent
_VIEWERS = ("test/viewer/page/panels/", "test/viewer/")
_LAST = ("control", "docs", "language", "model", "sim")
"""Folders whose files end soon: at the end, another file would run alone."""


@pytest.fixture(scope="module", autouse=True)
def level_of_the_log() -> Iterator[None]:
    """Give the log its level back after a file: a node of the process makes it log more."""
    package = logging.getLogger("mujoco_ros")
    level = package.level
    yield
    package.setLevel(level)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of workers: two more than cores, because tests wait half of their time."""
    return len(os.sched_getaffinity(0)) + 2


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_make_scheduler() -> Generator[None, Any, Any]:
    """Give all files with the viewer to two workers: panels, which draw no scene, and the others.

    Each browser draws with the processor: several would take it from each other and all tests.
    """
    scheduler = yield
    if split := getattr(scheduler, "_split_scope", None):
        scheduler._split_scope = lambda test: next(filter(test.startswith, _VIEWERS), split(test))
    return scheduler


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the viewer's files, which two workers run, first, and short files last.

    Within a file, run tests that start their own simulators first, before a shared one runs.
    """
    files = {path: number for number, path in enumerate(dict.fromkeys(i.path for i in items))}

    def place(item: pytest.Item) -> tuple[int, int, bool]:
        folder = item.path.relative_to(_HERE).parts[0]
        order = 0 if folder == "viewer" else 2 if folder in _LAST else 1
        fixtures = getattr(item, "fixturenames", ())
        return order, files[item.path], "start" not in fixtures or "start_shared" in fixtures

    items.sort(key=place)


@pytest.fixture(autouse=True, scope="session")
def no_limit_of_the_tests() -> Iterator[None]:
    """Programs that run in the process of the tests do not limit the time in which that ends."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(end_limit, "_pipe", -1)
        yield


@pytest.fixture
def ros_node() -> "Iterator[Node]":
    """A node in its own context."""
    if MISSING:
        pytest.skip(MISSING)
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("test_node", context=context)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture
def spin_until(ros_node: "Node") -> "Iterator[SpinUntil]":
    """A function that spins the node until a condition holds and returns whether it did in time."""
    executor = SingleThreadedExecutor(context=ros_node.context)
    executor.add_node(ros_node)

    def spin(condition: Callable[[], bool], timeout_s: float = 120.0) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                return False
            executor.spin_once(timeout_sec=0.05)
        return True

    yield spin
    executor.shutdown()


if not MISSING:
    pytest_plugins = ["live_fixtures"]
