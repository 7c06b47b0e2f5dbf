"""Actions of chaos; the seed and the number of an action determine it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from random import Random
from signal import SIGCONT, SIGKILL, SIGSTOP
from typing import Any

from command_clients import ARM, follow, point
from control_msgs.action import FollowJointTrajectory
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterValue
from session import CONTROLLER, NAMES, ROLES, Session
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import (
    DeleteEntity,
    LoadWorld,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
    UnloadWorld,
)
from spawn_requests import ARM as ARM_URI
from spawn_requests import BALL, BLOCK, BOX, named_resource, resource_of

from mujoco_ros.wire.qos import message_class

_CHILDREN = (*ROLES, "recorder")
_TEXT = 160
_SHUTDOWNS = range(5, 9)
_TRANSITIONS = (
    Transition.TRANSITION_CONFIGURE,
    Transition.TRANSITION_ACTIVATE,
    Transition.TRANSITION_DEACTIVATE,
    Transition.TRANSITION_CLEANUP,
)
_RUN_STATES = (
    SimulationState.STATE_PLAYING,
    SimulationState.STATE_PLAYING,
    SimulationState.STATE_PAUSED,
    SimulationState.STATE_STOPPED,
)


@dataclass(frozen=True)
class Action:
    """Something that is done to a simulator, in words and in fact."""

    text: str
    run: Callable[[Session], object]


def action(session: Session, seed: int, number: int) -> Action:
    """Return an action; it depends on the interfaces of the session, not on what happened."""
    random = Random(f"{seed}:{number}")
    (draw,) = random.choices(list(_ACTIONS), list(_ACTIONS.values()))
    made = draw(session, random)
    return Action(f"{number} {made.text[:_TEXT]}", made.run)


def _publish(session: Session, random: Random) -> Action:
    topic, name = random.choice(list(session.subscriptions.items()))
    kind, count = message_class(name), random.choice((1, 1, 5, 50))
    assert kind is not None
    messages = [session.generator.draw(kind, random) for _ in range(count)]
    return Action(
        f"publish {count} on {topic}: {messages[0]}", lambda it: it.publish(topic, kind, messages)
    )


def _request(session: Session, random: Random) -> Action:
    service, name = random.choice(list(session.services.items()))
    kind, count = service_class(name), random.choice((1, 1, 3, 10))
    requests = [session.generator.draw(kind.Request, random) for _ in range(count)]
    for request in requests:
        _without_end(request)

    def run(it: Session) -> None:
        for request in requests:
            it.call(service, kind, request)

    return Action(f"call {count} × {service}: {requests[0]}", run)


def _without_end(request: Any) -> None:
    """Keep a request from ending the simulator or its controller for good, which it may do."""
    state = getattr(request, "state", None)
    if isinstance(state, SimulationState) and state.state == SimulationState.STATE_QUITTING:
        state.state = SimulationState.STATE_PAUSED
    if isinstance(request, ChangeState.Request):
        request.transition.label = ""
        if request.transition.id in _SHUTDOWNS:
            request.transition.id = Transition.TRANSITION_ACTIVATE


def _parameters(session: Session, random: Random) -> Action:
    names = random.sample(sorted(session.parameters), random.choice((1, 3, 30)))
    values = [
        Parameter(name=name, value=_value(session, random, session.parameters[name]))
        for name in names
    ]
    first = f"{names[0]} = {_plain(values[0].value)!r}"
    return Action(
        f"set {len(names)} parameters: {first}", lambda it: it.set_parameters("/mujoco", values)
    )


def _value(session: Session, random: Random, now: ParameterValue) -> ParameterValue:
    """Return a value of a parameter: sometimes of another type, near the present one or absurd."""
    kind = now.type if random.random() < 0.9 else random.randrange(10)
    made, number = ParameterValue(type=kind), _near(now) * random.choice((0.0, 0.5, 2.0, -1.0))
    if random.random() < 0.5:
        number = session.generator.hostile_number(random)
    count = len(now.double_array_value) or 3
    made.bool_value = random.random() < 0.5
    made.double_value, made.double_array_value = number, [number] * random.choice((count, 1))
    made.integer_value = random.choice((0, 1, -1, 2**63 - 1, now.integer_value))
    text = session.generator.hostile_text(random)
    made.string_value = random.choice((now.string_value, text))
    made.string_array_value = [text]
    return made


def _near(value: ParameterValue) -> float:
    return value.double_value or next(iter(value.double_array_value), 1.0)


def _plain(value: ParameterValue) -> Any:
    field = {1: "bool", 2: "integer", 3: "double", 4: "string", 8: "double_array"}.get(value.type)
    return None if field is None else getattr(value, f"{field}_value")


def _goals(session: Session, random: Random) -> Action:
    goals = []
    for _ in range(random.choice((1, 5, 30))):
        if random.random() < 0.5:
            goals.append(session.generator.draw(FollowJointTrajectory.Goal, random))
            continue
        ends = [random.uniform(-1.0, 1.0) for _ in ARM]
        goals.append(follow(point(random.choice((0.1, 1.0, 20.0)), ends, [0.0] * len(ARM))))

    def run(it: Session) -> None:
        for goal in goals:
            it.send(goal)

    return Action(f"send {len(goals)} goals", run)


def _spawn(_session: Session, random: Random) -> Action:
    name = random.choice(NAMES)
    uri, text = {"ball": ("", BALL), "box": (BOX, ""), "block": ("", BLOCK)}.get(
        name, (ARM_URI, "")
    )
    request = SpawnEntity.Request(name=name, **named_resource(SpawnEntity.Request, uri, text))
    position = request.initial_pose.pose.position
    position.x, position.y, position.z = (random.uniform(-2.0, 2.0) for _ in range(3))
    return Action(f"spawn {name}", lambda it: it.call("/mujoco/spawn_entity", SpawnEntity, request))


def _delete(_session: Session, random: Random) -> Action:
    name = random.choice(NAMES)
    request = DeleteEntity.Request(entity=name)
    return Action(
        f"delete {name}", lambda it: it.call("/mujoco/delete_entity", DeleteEntity, request)
    )


def _move(session: Session, random: Random) -> Action:
    request = session.generator.draw(SetEntityState.Request, random)
    request.entity = random.choice(NAMES)
    return Action(
        f"move {request.entity}: {request.state}",
        lambda it: it.call("/mujoco/set_entity_state", SetEntityState, request),
    )


def _reset(_session: Session, random: Random) -> Action:
    request = ResetSimulation.Request(scope=random.choice((0, 1, 2, 3, 4, 255)))
    return Action(
        f"reset scope {request.scope}",
        lambda it: it.call("/mujoco/reset_simulation", ResetSimulation, request),
    )


def _run_state(_session: Session, random: Random) -> Action:
    request = SetSimulationState.Request()
    request.state.state = random.choice(_RUN_STATES)
    steps = StepSimulation.Request(steps=random.choice((1, 100, 10_000)))

    def run(it: Session) -> None:
        it.call("/mujoco/set_simulation_state", SetSimulationState, request)
        it.call("/mujoco/step_simulation", StepSimulation, steps)

    return Action(f"state {request.state.state}, {steps.steps} steps", run)


def _world(session: Session, random: Random) -> Action:
    """Leave the world, send something into the empty space, and return."""
    unloads = random.random() < 0.5
    between = _spawn(session, random)
    there, back = LoadWorld.Request(), LoadWorld.Request()
    resource_of(there).uri = random.choice(("quadruped", "arm", "none", ""))
    resource_of(back).uri = "arm"

    def run(it: Session) -> None:
        if unloads:
            it.call("/mujoco/unload_world", UnloadWorld, UnloadWorld.Request())
        else:
            it.call("/mujoco/load_world", LoadWorld, there)
        between.run(it)
        it.call("/mujoco/load_world", LoadWorld, back)

    return Action("unload the world" if unloads else f"load {resource_of(there).uri!r}", run)


def _recover(_session: Session, _random: Random) -> Action:
    """Play the shipped scene with its own parameters, so that what follows finds a robot."""
    return Action("restore the scene", lambda it: it.restore())


def _lifecycle(_session: Session, random: Random) -> Action:
    request = ChangeState.Request(transition=Transition(id=random.choice(_TRANSITIONS)))
    return Action(
        f"transition {request.transition.id} of {CONTROLLER}",
        lambda it: it.call(f"{CONTROLLER}/change_state", ChangeState, request),
    )


def _kill(_session: Session, random: Random) -> Action:
    role = random.choice(_CHILDREN)

    def run(it: Session) -> None:
        it.signal(role, SIGKILL)
        if role == "recorder":
            it.start_recorder()

    return Action(f"kill {role}", run)


def _stop(_session: Session, random: Random) -> Action:
    role, seconds = random.choice((*_CHILDREN, "simulator")), random.choice((0.2, 1.0, 3.0))

    def run(it: Session) -> None:
        it.signal(role, SIGSTOP)
        it.listener.spin_for(seconds)
        it.signal(role, SIGCONT)

    return Action(f"stop {role} for {seconds} s", run)


def _record(_session: Session, _random: Random) -> Action:
    return Action("record another bag", lambda it: it.start_recorder())


def _log(_session: Session, _random: Random) -> Action:
    return Action("log into another file", lambda it: it.next_state_log())


def _images(_session: Session, _random: Random) -> Action:
    return Action("change the subscription to images", lambda it: it.toggle_images())


def _rest(_session: Session, random: Random) -> Action:
    seconds = random.choice((0.1, 0.3, 1.0))
    return Action(f"wait {seconds} s", lambda it: it.listener.spin_for(seconds))


def service_class(name: str) -> Any:
    """Return the class of a service type, as ``std_srvs/srv/Trigger``."""
    package, folder, kind = name.split("/")
    return getattr(import_module(f"{package}.{folder}"), kind)


_ACTIONS: dict[Callable[[Session, Random], Action], int] = {
    _publish: 30,
    _request: 20,
    _parameters: 8,
    _goals: 8,
    _spawn: 6,
    _delete: 5,
    _move: 3,
    _reset: 3,
    _run_state: 3,
    _world: 1,
    _recover: 3,
    _lifecycle: 3,
    _kill: 3,
    _stop: 3,
    _record: 1,
    _log: 1,
    _images: 2,
    _rest: 4,
}
"""The actions, and how often each is chosen."""
