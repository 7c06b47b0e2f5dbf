"""Spawn boxes into the running simulation, print where they come to rest, and delete them.

Run it in a second terminal while `make sim SCENE=arm` runs, or any other scene. Spawned boxes are
deleted after Ctrl-C as well. Any MJCF or URDF can be spawned like this, including robots.
The boxes belong to no robot, so --ros-args -r __ns:=… has no effect.
"""

import argparse
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import rclpy
from rclpy.client import Client
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from simulation_interfaces.msg import EntityFilters, Resource, Result, SpawnEntity
from simulation_interfaces.srv import DeleteEntity, GetEntitiesStates, SpawnEntities

SIMULATOR = "/mujoco"
NOT_FOUND = "no simulator found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
INTERRUPTED = 130  # exit code of a program ended by Ctrl-C
BOX = """
<mujoco model="box">
  <worldbody>
    <body name="box">
      <freejoint/>
      <geom type="box" size="{half} {half} {half}" density="400" rgba="0.9 0.5 0.2 1"/>
    </body>
  </worldbody>
</mujoco>
"""
interrupts: list[bool] = []  # Ctrl-C was pressed


def uri(model: str) -> str:
    """Return the URI of a model that is given by its path or URI."""
    return model if "://" in model else Path(model).absolute().as_uri()


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--count", type=int, default=5, help="number of boxes, default: %(default)s")
    add("--size", type=float, default=0.06, help="edge length [m], default: %(default)s")
    add(
        "--at",
        type=float,
        nargs=3,
        default=(0.0, 0.6, 0.5),
        help="position [m], default: %(default)s",
    )
    add("--watch", type=float, default=2.0, help="seconds until deletion, default: %(default)s")
    add("--model", type=uri, help="path or URI of an MJCF or URDF to spawn instead of boxes")
    add("--keep", action="store_true", help="do not delete them")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(
    node: Node,
    condition: Callable[[], object],
    seconds: float = 10.0,
    *,
    interruptible: bool = True,
) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time.

    Ctrl-C raises KeyboardInterrupt if it is `interruptible`; otherwise at the next spin that is.
    """
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interruptible and interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Simulator:
    """Clients of the services of a simulator."""

    def __init__(self, node: Node) -> None:
        """Create the clients."""
        self.node = node
        self.spawner = self._client(SpawnEntities, "spawn_entities")
        self.deleter = self._client(DeleteEntity, "delete_entity")
        self.states = self._client(GetEntitiesStates, "get_entities_states")

    def _client(self, kind: type, name: str) -> Client:
        return self.node.create_client(kind, f"{SIMULATOR}/{name}")

    def is_ready(self) -> bool:
        """Return whether the simulator is found."""
        clients = (self.spawner, self.deleter, self.states)
        return spin_until(self.node, lambda: all(c.service_is_ready() for c in clients))

    def call(self, client: Client, request: object) -> object:
        """Call a service and return its response; Ctrl-C waits, as the response names entities."""
        answer = client.call_async(request)
        if not spin_until(self.node, answer.done, 60.0, interruptible=False):
            sys.exit("the simulator does not respond")
        return answer.result()

    def spawn(self, args: argparse.Namespace) -> tuple[list[str], str]:
        """Spawn all entities at once; return their names, and an error, empty without one."""
        request = SpawnEntities.Request()
        name = f"spawned_{re.sub(r'[^a-zA-Z0-9]', '_', Path(args.model or 'box').stem)}"
        for i in range(args.count):
            one = SpawnEntity(name=name, allow_renaming=True)
            text = "" if args.model else BOX.format(half=0.5 * args.size)
            one.entity_resource = Resource(uri=args.model or "", resource_string=text)
            position = one.initial_pose.pose.position
            position.x, position.y, position.z = args.at
            position.z += 1.5 * i * args.size
            request.spawn_requests.append(one)
        response = self.call(self.spawner, request)
        results = response.results
        names = [
            response.entity_name
            for response in results
            if response.result.result == Result.RESULT_OK
        ]
        errors = [
            response.result.error_message
            for response in results
            if response.result.result != Result.RESULT_OK
        ]
        return names, errors[0] if errors else ""

    def show(self, names: list[str]) -> None:
        """Print the positions and velocities of entities."""
        filters = EntityFilters(filter=f"^({'|'.join(names)})$")
        response = self.call(self.states, GetEntitiesStates.Request(filters=filters))
        for name, state in zip(response.entities, response.states, strict=True):
            place, speed = state.pose.position, state.twist.linear
            print(f"{name:<16} {place.x:8.3f} {place.y:8.3f} {place.z:8.3f} {speed.z:8.3f}")

    def delete(self, names: list[str]) -> None:
        """Delete entities."""
        for name in names:
            self.call(self.deleter, DeleteEntity.Request(entity=name))


def play(simulator: Simulator, args: argparse.Namespace) -> str:
    """Spawn, wait and delete; return an error, empty without one."""
    if not simulator.is_ready():
        return NOT_FOUND
    names, problem = simulator.spawn(args)
    try:
        if names:
            spin_until(simulator.node, lambda: False, args.watch)
            print(f"{'name':<16} {'x':>8} {'y':>8} {'z':>8} {'vz':>8}")
            simulator.show(names)
    finally:
        if not args.keep:
            simulator.delete(names)
    print(f"{len(names)} spawned, {len(names) * (not args.keep)} deleted")
    return problem


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to tidy up.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(play(Simulator(rclpy.create_node("spawn_boxes")), args) or 0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
