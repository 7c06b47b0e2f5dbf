"""Spawn boxes into the running simulation, look where they come to lie, and delete them.

Run it in a second terminal while `make sim SCENE=arm` runs, or any other scene. What is spawned is
gone after Ctrl-C as well. Any MJCF or URDF can be spawned like this, robots too.
"""

import argparse
import signal
import sys
from collections.abc import Callable
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
INTERRUPTED = 130  # as shells report a program that Ctrl-C ended
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
interrupts: list[bool] = []  # by Ctrl-C


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--count", type=int, default=5, help="how many boxes, default: %(default)s")
    add("--size", type=float, default=0.06, help="of their edges in m, default: %(default)s")
    add("--at", type=float, nargs=3, default=(0.0, 0.6, 0.5), help="where, default: %(default)s")
    add("--watch", type=float, default=2.0, help="for so many seconds, default: %(default)s")
    add("--model", help="path or URI of an MJCF or URDF to spawn instead of boxes")
    add("--keep", action="store_true", help="leave them there")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(
    node: Node, condition: Callable[[], object], seconds: float = 10.0, *, heed: bool = True
) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time.

    Ctrl-C ends it, unless it is to `heed` that later.
    """
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if heed and interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Simulator:
    """The services of a simulator that this program uses."""

    def __init__(self, node: Node) -> None:
        """Look for it with `node`."""
        self.node = node
        self.spawner = self._client(SpawnEntities, "spawn_entities")
        self.deleter = self._client(DeleteEntity, "delete_entity")
        self.states = self._client(GetEntitiesStates, "get_entities_states")

    def _client(self, kind: type, name: str) -> Client:
        return self.node.create_client(kind, f"{SIMULATOR}/{name}")

    def is_there(self) -> bool:
        """Return whether it is found."""
        clients = (self.spawner, self.deleter, self.states)
        return spin_until(self.node, lambda: all(c.service_is_ready() for c in clients))

    def call(self, client: Client, request: object) -> object:
        """Call a service and return its response, whatever Ctrl-C says: it tells what is there."""
        answer = client.call_async(request)
        if not spin_until(self.node, answer.done, 60.0, heed=False):
            sys.exit("the simulator does not answer")
        return answer.result()

    def spawn(self, wanted: argparse.Namespace) -> tuple[list[str], str]:
        """Spawn what is wanted, all of it at once; return its names, and what went wrong."""
        request = SpawnEntities.Request()
        for i in range(wanted.count):
            one = SpawnEntity(name="spawned_box", allow_renaming=True)
            text = "" if wanted.model else BOX.format(half=0.5 * wanted.size)
            one.entity_resource = Resource(uri=wanted.model or "", resource_string=text)
            place = one.initial_pose.pose.position
            place.x, place.y, place.z = wanted.at
            place.z += 1.5 * i * wanted.size
            request.spawn_requests.append(one)
        response = self.call(self.spawner, request)
        results = response.results
        names = [it.entity_name for it in results if it.result.result == Result.RESULT_OK]
        wrong = [it.result.error_message for it in results if it.result.result != Result.RESULT_OK]
        return names, wrong[0] if wrong else ""

    def show(self, names: list[str]) -> None:
        """Print where entities are, and how fast."""
        filters = EntityFilters(filter=f"^({'|'.join(names)})$")
        response = self.call(self.states, GetEntitiesStates.Request(filters=filters))
        for name, state in zip(response.entities, response.states, strict=True):
            place, speed = state.pose.position, state.twist.linear
            print(f"{name:<16} {place.x:8.3f} {place.y:8.3f} {place.z:8.3f} {speed.z:8.3f}")

    def delete(self, names: list[str]) -> None:
        """Delete entities."""
        for name in names:
            self.call(self.deleter, DeleteEntity.Request(entity=name))


def play(simulator: Simulator, wanted: argparse.Namespace) -> str:
    """Spawn, watch and delete; return what went wrong, nothing if all went well."""
    if not simulator.is_there():
        return NOT_FOUND
    names, problem = simulator.spawn(wanted)
    try:
        if names:
            spin_until(simulator.node, lambda: False, wanted.watch)
            print(f"{'name':<16} {'x':>8} {'y':>8} {'z':>8} {'vz':>8}")
            simulator.show(names)
    finally:
        if not wanted.keep:
            simulator.delete(names)
    print(f"{len(names)} spawned, {len(names) * (not wanted.keep)} deleted")
    return problem


if __name__ == "__main__":
    asked = options()
    # Without rclpy's own handler, Ctrl-C leaves the middleware alive to tidy up with.
    # An exception amid rclpy's code would come out of it as another: it is raised between.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(play(Simulator(rclpy.create_node("spawn_boxes")), asked) or 0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
