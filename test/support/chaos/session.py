"""A simulator with everything around it, as the target of chaos."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from command_clients import ARM, follow, point
from control_msgs.action import FollowJointTrajectory
from fork_server import ForkedProcess, fork_server
from message_generator import MessageGenerator, Vocabulary
from monitors import Monitors
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import Image
from simulation_interfaces.srv import (
    GetEntities,
    GetSimulationState,
    LoadWorld,
    SetSimulationState,
    UnloadWorld,
)
from simulation_interfaces.srv import ResetSimulation as Reset
from simulators import WAIT_LIMIT_S, SimulatorLauncher
from spawn_requests import ARM as ARM_URI
from spawn_requests import BALL, BLOCK, BOX, resource_of

from mujoco_ros.cli.record import main as record
from mujoco_ros.sim.state_log.reader import LogSegment, StateLog
from mujoco_ros.wire.qos import message_class

CONTROLLER = "/pick_place"
FOLLOW = "/joint_trajectory_controller/follow_joint_trajectory"
GRIP = "/gripper_controller/gripper_cmd"
NAMES = ("ball", "box", "block", "extra")
"""Names of spawned entities; `extra` is an arm."""
ROLES = ("cameras", "viewer", "worker")
"""Child processes of the simulator; all but the first two are workers."""
_MOST = {"fork_supervisor": 3, "trial_worker": 2}
"""Trials run for requested models, and to measure the size of spawnables."""
_FORKS = ("fork_server", "cameras", *_MOST)
_MAX_ZOMBIES = 4
"""A worker that was killed is reaped with the next request."""
_CHILD = "mujoco_ros.process.child_process"
_DEEP = QoSProfile(depth=5000)
_SETTLE_S = 2.0
_NOT_CALLED = ("get_type_description", "_action", "set_parameters")


class Session:
    """A running arm with a controller, cameras, page, recorder and state log.

    Attributes:
        subscriptions: Types of the topics that the simulator subscribes to, by name.
        services: Types of its services, by name.
        parameters: Values of its writable parameters, by name.
        generator: Draws messages in the words of this scene.
        goals: Number of accepted goals whose results are expected.
    """

    def __init__(self, start: SimulatorLauncher, folder: Path) -> None:
        """Start everything, and wait until it runs."""
        self.folder = folder
        self._logs = 0
        self.simulator = start.simulator(
            scene="arm",
            cameras="true",
            viewer="web",
            controller=CONTROLLER[1:],
            state_log=folder / "0.mjlog",
            state_log_every=20,
            realtime_priority=0,  # it would take the processor from the other tests
        )
        self.listener = start.listener(self.simulator)
        self.simulator.wait_until_running()
        self._node = self.listener.node
        self._publishers: dict[str, Any] = {}
        self._clients: dict[str, Any] = {}
        self._images: list[Any] = []
        self._calls: list[tuple[str, Any]] = []
        self._sent: list[Any] = []
        self._results: list[Any] = []
        self._loads: list[Any] = []
        self._elsewhere = False  # perhaps in another world than the first one
        self.goals = 0
        self._recorders: list[tuple[ForkedProcess, Path]] = []
        self._stopped: set[int] = set()
        # With the default depth of 10, a client that does not spin loses responses.
        self._follow = ActionClient(
            self._node,
            FollowJointTrajectory,
            FOLLOW,
            goal_service_qos_profile=_DEEP,
            result_service_qos_profile=_DEEP,
        )
        assert self.listener.spin_until(self._follow.server_is_ready)
        self._discover()
        self.parameters = self._read_parameters()
        self.generator = MessageGenerator(
            Vocabulary(
                joints=[*ARM, "left_finger_joint"],
                names=[*NAMES, "arm", "table", "world"],
                frames=["", "world", "base_link", "tool0", "camera"],
                parameters=sorted(self.parameters),
                uris=["", BOX, ARM_URI, "package://mujoco_ros/none.xml", "arm", "file:///none"],
                texts=["", BALL, BLOCK, "<mujoco>", "robots: [", "<robot name='r'/>", "{a: *a}"],
            )
        )
        self.start_recorder()
        self._resident_at_start_mb = self._resident_mb()

    # --- actions ---

    def publish(self, topic: str, kind: type, messages: list[Any]) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(kind, topic, 10)
        for message in messages:
            self._publishers[topic].publish(message)

    def call(self, service: str, kind: Any, request: Any) -> Any:
        """Send a request and return the future of the response."""
        if service not in self._clients:
            self._clients[service] = self._node.create_client(kind, service, qos_profile=_DEEP)
        client = self._clients[service]
        fixed = service.startswith("/mujoco/")  # the others end with their robot
        if not client.service_is_ready():
            if not fixed:
                return None
            assert self.listener.spin_until(client.service_is_ready)
        future = client.call_async(request)
        if kind in (LoadWorld, UnloadWorld):
            self._follow_world(future)
        if fixed:
            self._calls.append((service, future))
        return future

    def send(self, goal: FollowJointTrajectory.Goal) -> None:
        """Send a goal; its result is requested as soon as it is accepted."""
        if not self._follow.server_is_ready():
            return
        answer = self._follow.send_goal_async(goal)
        if all(load.done() for load in self._loads):
            world = len(self._loads)
            answer.add_done_callback(lambda it: self._follow_up(it, world))
            self._sent.append(answer)

    def set_parameters(self, node: str, values: list[ParameterMessage]) -> None:
        self.call(f"{node}/set_parameters", SetParameters, SetParameters.Request(parameters=values))

    def children(self) -> list[tuple[str, int]]:
        """Return the modules and ids of the child processes of the simulator."""
        found = []
        for pid in _processes(self.simulator.process.pid):
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                if _CHILD in words:
                    found.append((words[words.index(_CHILD) + 2], pid))
                elif (name := Path(f"/proc/{pid}/comm").read_text().strip()) in _FORKS:
                    found.append((name, pid))
        return found

    def signal(self, role: str, number: signal.Signals) -> None:
        """Send a signal to the simulator, the recorder or child processes, if they run."""
        if role == "recorder":
            pids = [self._recorders[-1][0].pid]
        elif role == "simulator":
            pids = [self.simulator.process.pid]
        else:
            pids = [pid for module, pid in self.children() if _role(module) == role]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                (self._stopped.add if number == signal.SIGSTOP else self._stopped.discard)(pid)

    def continue_all(self) -> None:
        """Continue the stopped processes."""
        for pid in self._stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()

    def start_recorder(self) -> None:
        """End the recorder, and start another one with another bag."""
        self._end_recorder()
        bag = self.folder / f"bag{len(self._recorders)}"
        with (self.folder / f"{bag.name}.log").open("wb") as log:
            process = fork_server().fork(
                "mujoco_ros.cli.record",
                "--output",
                str(bag),
                "--regex",
                ".*",
                "--exclude",
                ".*camera.*",
                env=self.simulator.environment,
                stdout=log.fileno(),
            )
        self._recorders.append((process, bag))

    def next_state_log(self) -> None:
        """Continue the state log in another file."""
        self._logs += 1
        value = ParameterMessage(name="state_log")
        value.value.type, value.value.string_value = 4, str(self.folder / f"{self._logs}.mjlog")
        self.set_parameters("/mujoco", [value])

    def toggle_images(self) -> None:
        """Subscribe to the camera, or end that."""
        if self._images:
            self._node.destroy_subscription(self._images.pop())
        else:
            self._images.append(
                self._node.create_subscription(Image, self._camera, lambda _image: None, 1)
            )

    # --- invariants ---

    def observe(self, seconds: float = 0.0) -> None:
        """Receive messages for some time, and check what must always hold."""
        self.listener.spin_for(seconds)
        assert self.simulator.process.poll() is None, "the simulator ended"
        self.monitors.update()
        assert not self.monitors.problems, self.monitors.problems[0]

    def grown_mb(self) -> float:
        """Return the resident memory of the simulator beyond that at the start."""
        return self._resident_mb() - self._resident_at_start_mb

    def restore(self) -> None:
        """Bring the simulator back to its first state, as a user would."""
        self.continue_all()
        if self._elsewhere or self._is_robot_missing():
            for load in self._loads:
                self.until(load.done, "answer of /mujoco/load_world")
            request = LoadWorld.Request()
            resource_of(request).uri = "arm"
            for _ in range(3):  # its worker process may have been killed
                result = self.answer("/mujoco/load_world", LoadWorld, request).result
                if "worker process" not in result.error_message:
                    break
            assert result.result == result.RESULT_OK, result.error_message
            self._elsewhere = False
        values = [ParameterMessage(name=name, value=it) for name, it in self.parameters.items()]
        response = self.answer(
            "/mujoco/set_parameters", SetParameters, SetParameters.Request(parameters=values)
        )
        reasons = [result.reason for result in response.results if not result.successful]
        assert not reasons, reasons
        self._play()

    def answer(self, service: str, kind: Any, request: Any) -> Any:
        """Return the response to a request."""
        future = self.call(service, kind, request)
        self.until(future.done, f"an answer of {service}")
        return future.result()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        assert self.listener.spin_until(condition), (
            f"no {what} in {WAIT_LIMIT_S:g} s; child processes: {self.children()}"
        )

    def check_end(self) -> None:
        """Check that everything is answered and works again."""
        self.continue_all()
        self._play()  # steps that were requested end
        for answer in self._sent:
            self.until(answer.done, "answer to a goal")
        accepted = sum(answer.result().accepted for answer in self._sent)
        self.until(lambda: len(self._results) >= accepted, "request of each result")
        for result in self._results:
            self.until(result.done, "result of an accepted goal")
        self.restore()
        for service, call in self._calls:
            self.until(call.done, f"answer of {service}")
        response = self.answer(
            "/mujoco/get_simulation_state", GetSimulationState, GetSimulationState.Request()
        )
        assert response.state.state == response.state.STATE_PLAYING
        self._check_motion()
        self.until(self._are_children_whole, "complete set of child processes")
        self.observe()
        self.monitors.finish()
        assert not self.monitors.problems, self.monitors.problems[0]
        assert "Traceback" not in self.simulator.log
        assert "failed on" not in self.simulator.log

    def stop(self) -> None:
        """End all processes; none may remain."""
        self._end_recorder()
        assert self.simulator.stop() == 0, "the simulator ended with an error"
        group = self.simulator.process.pid
        self.until(lambda: not _processes(group), "end of all child processes")

    def close(self) -> None:
        """Kill what a failed run left."""
        with suppress(ProcessLookupError):
            os.killpg(self.simulator.process.pid, signal.SIGKILL)
        for process, _ in self._recorders:
            process.kill()

    def check_records(self) -> None:
        """Check that all bags and state logs can be read."""
        for process, bag in self._recorders:
            process.wait(WAIT_LIMIT_S)
            if not bag.exists():
                continue  # killed before it began
            assert record(["--repair", str(bag), "--in-place"]) == 0
            with Reader(bag) as reader:
                for _ in reader.messages():
                    pass
        logs = sorted(self.folder.glob("*.mjlog"))
        assert logs
        for path in logs:
            for segment in StateLog.open(path).segments:
                assert _all_finite(segment), path

    # --- details ---

    def _resident_mb(self) -> float:
        pages = int(Path(f"/proc/{self.simulator.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _is_robot_missing(self) -> bool:
        entities = self.answer("/mujoco/get_entities", GetEntities, GetEntities.Request()).entities
        return "arm" not in entities

    def _play(self) -> None:
        """Reset everything, and play: all goals end."""
        self.answer("/mujoco/reset_simulation", Reset, Reset.Request())
        state = SetSimulationState.Request()
        state.state.state = state.state.STATE_PLAYING
        self.answer("/mujoco/set_simulation_state", SetSimulationState, state)

    def _follow_world(self, load: Any) -> None:
        """Expect nothing more of the goals: another world has other action servers."""
        self.monitors.expect_reset()
        self._loads.append(load)
        self._elsewhere = True
        self._sent.clear()
        self._results.clear()

    def _follow_up(self, answer: Any, world: int) -> None:
        handle = answer.result()
        if handle.accepted and world == len(self._loads):
            self.goals += 1
            self._results.append(handle.get_result_async())

    def _check_motion(self) -> None:
        clock = self.monitors.clock

        def runs() -> bool:
            self.monitors.update()
            return self.monitors.clock > clock + 100_000_000

        self.until(runs, "progress of the clock")
        results = len(self._results)
        self.send(follow(point(0.5, [0.0, -1.2, 1.4, -1.8, -1.57, 0.0], [0.0] * len(ARM))))
        self.until(lambda: len(self._results) > results, "accepted goal")
        self.until(self._results[-1].done, "result of the last goal")

    def _are_children_whole(self) -> bool:
        names = Counter(module.rpartition(".")[2] for module, _ in self.children())
        return (
            names["cameras"] == names["viewer"] == 1
            and all(count <= _MOST.get(name, 1) for name, count in names.items())
            and len(_processes(self.simulator.process.pid, "Z")) <= _MAX_ZOMBIES
        )

    def _discover(self) -> None:
        """Read the interfaces of the simulator from the graph, once they stop to grow."""
        self.until(lambda: bool(self._image_topics()), "camera")
        self._camera = self._image_topics()[0]
        size = -1
        while size != (size := self._graph_size()):
            self.listener.spin_for(_SETTLE_S)
        node, pub = self._node, dict[str, str]()
        names = dict(node.get_subscriber_names_and_types_by_node("mujoco", "/"))
        self.subscriptions = {
            name: kind
            for name, (kind, *_) in sorted(names.items())
            if name not in ("/clock", "/parameter_events") and message_class(kind)
        }
        services = dict(node.get_service_names_and_types_by_node("mujoco", "/"))
        services |= dict(node.get_service_names_and_types_by_node(CONTROLLER[1:], "/"))
        self.services = {
            name: kind
            for name, (kind, *_) in sorted(services.items())
            if not any(word in name for word in _NOT_CALLED)
        }
        for name, (kind, *_) in node.get_publisher_names_and_types_by_node("mujoco", "/"):
            pub[name] = kind
        self.monitors = Monitors(
            self.listener, {k: v for k, v in pub.items() if "_action" not in k}, [FOLLOW, GRIP]
        )

    def _image_topics(self) -> list[str]:
        topics = self._node.get_topic_names_and_types()
        return sorted(name for name, kinds in topics if kinds == ["sensor_msgs/msg/Image"])

    def _graph_size(self) -> int:
        node = self._node
        return len(node.get_service_names_and_types_by_node("mujoco", "/")) + len(
            node.get_topic_names_and_types()
        )

    def _read_parameters(self) -> dict[str, Any]:
        client = self.listener.parameters()
        names = self.listener.result(client.list_parameters()).result.names
        described = self.listener.result(client.describe_parameters(names)).descriptors
        wanted = [it.name for it in described if not it.read_only and it.name != "state_log"]
        values = self.listener.result(client.get_parameters(wanted)).values
        return dict(zip(wanted, values, strict=True))

    def _end_recorder(self) -> None:
        if self._recorders:
            process, _ = self._recorders[-1]
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)


def _role(module: str) -> str:
    name = module.rpartition(".")[2]
    return name if name in ROLES else "worker"


def _processes(group: int, states: str = "RSDT") -> list[int]:
    """Return the processes of a process group that are in one of some states (proc(5))."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, number = path.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state in states:
                found.append(int(path.parent.name))
    return found


def _all_finite(segment: LogSegment) -> bool:
    return all(np.isfinite(getattr(segment, name)).all() for name in ("time", "qpos", "qvel"))
