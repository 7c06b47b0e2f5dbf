"""Viewer process of a simulator."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from mujoco_ros.cli.command_line import collect_garbage, create_parser, fail, parse
from mujoco_ros.extras import MissingExtraError, require
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_cache import state_folder
from mujoco_ros.process.child_process import CANNOT_RUN_HERE
from mujoco_ros.process.end_limit import end_at_signals, handle_signals, limit_end, limit_exit
from mujoco_ros.process.memory import restrict_shared_memory

_CLIENTS = ("aiohttp", "requests")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the page of the simulation until it ends; return the exit code."""
    parser = create_parser(
        "viewer",
        "Show a running simulation. The simulator starts this process; see its parameter 'viewer'.",
    )
    add = parser.add_argument
    add("--state", required=True, help="name of the simulator's shared state")
    add("--simulator", default="/mujoco", help="full name of its node")
    add("--host", default="127.0.0.1", help="address of the page")
    add("--port", type=int, default=8080, help="port, or the next free one")
    options, ros = parse(parser, arguments)
    limit_end()
    end_at_signals()
    try:
        require("viewer", "the viewer")
        return _show(options, ros)
    except MissingExtraError as error:
        return fail(str(error), CANNOT_RUN_HERE)
    except UserInputError as error:
        return fail(str(error))


def _show(options: argparse.Namespace, ros: Sequence[str]) -> int:
    # Imported only where the optional modules are installed.
    from mujoco_ros.sim.shared_memory.reader import SharedState
    from mujoco_ros.viewer.page.page_address import PageAddress
    from mujoco_ros.viewer.ros.node import ViewerNode
    from mujoco_ros.wire.log_handler import forward_log

    open_page = import_server()
    collect_garbage()
    state = SharedState(options.state)
    viewer = ViewerNode(options.simulator, ros, now=lambda: state.peek()[0])
    forward_log(viewer.node)
    restrict_shared_memory()
    viewer.start()
    handle_signals(_leave)
    try:
        address = PageAddress(options.host, options.port, state_folder("viewer_access"))
        open_page(
            state,
            viewer,
            address,
            log=viewer.node.get_logger().info,
            on_start=lambda end: handle_signals(lambda _number: end()),
        )
    finally:
        state.close()
        viewer.close()
        limit_exit()
    return 0


def import_server() -> Callable[..., None]:
    """Return `open_page`, imported without the clients of its libraries: 11 MB and 0.1 s.

    engineio, which serves the page's connection, does without these modules if there are none.
    """
    absent = [name for name in _CLIENTS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent, cast(Any, None)))
    try:
        from mujoco_ros.viewer.page.server import open_page
    finally:
        for name in absent:
            del sys.modules[name]
    return open_page


def _leave(_number: int) -> None:
    """End the main loop, once: another signal would end what closes the viewer."""
    handle_signals(lambda _number: None)
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main())
