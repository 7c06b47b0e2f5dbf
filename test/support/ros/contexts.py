"""A context for components that a test constructs."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from rclpy.node import Node

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.direct_subscriptions import DirectSubscriptions
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.model.file_access import ALL_FILES
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl


def make_context(
    node: Node | None, simulation: Simulation, values: Mapping[str, Any] | None = None, **parts: Any
) -> NodeContext:
    """Return a context without a physics thread and without model changes.

    Args:
        node: The node; its endpoints are used unless `parts` has some.
        simulation: The simulation.
        values: Values of parameters, instead of the defaults.
        parts: Attributes of the context.
    """
    given: Any = parts
    defaults = {spec.name: spec.default for spec in PARAMETERS}
    given.setdefault("parameters", SimpleNamespace(values={**defaults, **(values or {})}))
    if "endpoints" not in given:
        given["endpoints"] = Endpoints(node) if isinstance(node, Node) else None
    if "direct" not in given:
        own = DirectSubscriptions(node, simulation.commands) if isinstance(node, Node) else None
        nothing = lambda *_: None  # noqa: E731
        given["direct"] = own or SimpleNamespace(add=nothing, remove=nothing, serve=nothing)
    rejections = given.setdefault("rejections", RejectionLog(print))
    at_once = Lockstep(simulation)  # without sources
    given.setdefault("submit", CommandSubmission(simulation, rejections, at_once))
    given.setdefault("lockstep", Lockstep(simulation))
    given.setdefault("run", RunControl(simulation))
    given.setdefault("pacer", Pacer(simulation.model.opt.timestep))
    for name in ("notify_reset", "quit", "status"):
        given.setdefault(name, lambda *_: None)
    given.setdefault("files", ALL_FILES)
    context: Any = {"node": node, "arguments": (), "models": None, "simulation": simulation}
    return NodeContext(**{**context, **given})
