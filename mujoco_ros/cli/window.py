"""Window process of a simulator."""

import sys
from collections.abc import Sequence

from mujoco_ros.cli.command_line import create_parser, fail, parse
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.process.child_process import CANNOT_RUN_HERE
from mujoco_ros.process.end_limit import end_at_signals, limit_end


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the simulation until it ends or the window is closed; return the exit code."""
    parser = create_parser(
        "window",
        "Show a running simulation in MuJoCo Studio. The simulator starts this process; see its "
        "parameter 'viewer'.",
    )
    parser.add_argument("--state", required=True, help="name of the simulator's shared state")
    options, _ = parse(parser, arguments)
    limit_end()
    end_at_signals()
    # Imported only here: the libraries of Studio take seconds.
    from mujoco_ros.sim.shared_memory.reader import SharedState
    from mujoco_ros.viewer.window import NoDisplayError, show_window

    try:
        state = SharedState(options.state)
        try:
            show_window(state)
        finally:
            state.close()
    except NoDisplayError as error:
        return fail(str(error), CANNOT_RUN_HERE)
    except UserInputError as error:
        return fail(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
