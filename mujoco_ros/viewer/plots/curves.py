"""The curves of the plots: of the shared state, and of fields of messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import FieldKey
from mujoco_ros.viewer.plots.history import History
from mujoco_ros.viewer.plots.signals import BASE_VELOCITY, Signal, signals
from mujoco_ros.viewer.ros.field_subscriber import FieldSubscriber
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters, wrench_sign

LONGEST_S = 60.0
"""Time for which samples are kept [s]."""
_RESET_S = 0.5
"""Messages of several publishers may be this late; the time of others was set back [s]."""
_DEFAULT_JOINTS = 6
_DEFAULT_JOINT_LABEL, _FLOATING_JOINT_LABEL, _DEFAULT_SENSOR_LABEL = "q", "torque", "force"

SignalKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve to draw."""

    plot: str  # label of the vertical axis; curves with the same one share a plot
    name: str  # name in the legend
    history: History  # its samples
    index: int  # index of its values in them


class StateCurves:
    """Selected signals of the shared state, sampled at its past states.

    At first, the positions of the first joints of a robot and its first force sensor are selected;
    of a robot with a floating base its velocity, and the torques of the joints.
    Without past states they are sampled ten times a second.
    """

    def __init__(self, state: SharedState, parameters: SimulatorParameters) -> None:
        self.known: dict[SignalKey, Signal] = {}  # all signals of the model by key
        self.is_chosen = False  # whether the user has selected
        self._state, self._parameters = state, parameters
        self._model: object = None
        self._histories: dict[SignalKey, History] = {}
        self._reviewed: dict[SignalKey, int] = {}
        self._absent: list[SignalKey] = []  # chosen ones that the model lacks

    @property
    def selected(self) -> list[Signal]:
        """The selected signals that the model has."""
        return [signal for key, signal in self.known.items() if key in self._histories]

    @property
    def chosen(self) -> list[SignalKey] | None:
        """Keys of the user's selection, also of signals that the model lacks; None without one."""
        return [*self._histories, *self._absent] if self.is_chosen else None

    def select(self, key: SignalKey, is_selected: bool) -> None:
        """Select a signal of the model, or do not."""
        self.is_chosen = True
        if is_selected and key not in self._histories:
            self._histories[key] = self._new_history(key)
        elif not is_selected:
            self._histories.pop(key, None)

    def restore(self, keys: Iterable[SignalKey]) -> None:
        """Select signals of the last viewer, once a model has them."""
        self.is_chosen, self._absent = True, list(keys)

    def clear(self) -> None:
        """Select nothing."""
        self.is_chosen = True
        self._histories.clear()
        self._absent.clear()

    def history(self, key: SignalKey) -> History:
        """Return the samples of a selected signal."""
        return self._histories[key]

    def update(self) -> None:
        """Add the samples since the last call."""
        state = self._state
        if state.model is not self._model:
            self._follow_model()
        signals = self.selected
        if not state.past.capacity:
            for signal in signals:
                self._histories[signal.key].add(state.time, signal.read())
            return
        behind = min(
            (self._reviewed.get(signal.key, -1) for signal in signals), default=state.past.added
        )
        for number in state.review(behind):
            for signal in signals:
                if self._reviewed.get(signal.key, -1) < number:
                    self._reviewed[signal.key] = number
                    history = self._histories[signal.key]
                    history.drop_from(state.time)  # which a return to this time has replaced
                    history.add(state.time, signal.read())

    def __iter__(self) -> Iterator[Curve]:
        for signal in self.selected:
            for index, name in enumerate(signal.curves):
                yield Curve(signal.unit, name, self._histories[signal.key], index)

    def _follow_model(self) -> None:
        """Read the signals of another model; keep the selected signals that it has."""
        self._model = self._state.model
        sign = partial(wrench_sign, self._parameters)
        self.known = {signal.key: signal for signal in signals(self._state, sign)}
        chosen = self.chosen
        selected = self._defaults() if chosen is None else list(dict.fromkeys(chosen))
        self._absent = [key for key in selected if key not in self.known]
        self._histories = {key: self._new_history(key) for key in selected if key in self.known}

    def _defaults(self) -> list[SignalKey]:
        label = _DEFAULT_JOINT_LABEL
        bases = [key for key in self.known if key[2] == BASE_VELOCITY][:1]
        joints = [key for key in self.known if key[0].endswith(" joints")]
        if bases:  # torques describe a robot that stands or moves better
            label, robot = _FLOATING_JOINT_LABEL, bases[0][0].removesuffix(" base")
            joints = [key for key in joints if key[0] == f"{robot} joints"]
        first = [key for key in joints if key[0] == joints[0][0] and key[2] == label]
        forces = [key for key in self.known if key[2] == _DEFAULT_SENSOR_LABEL]
        return [*bases, *first[:_DEFAULT_JOINTS], *forces[:1]]

    def _new_history(self, key: SignalKey) -> History:
        self._reviewed.pop(key, None)
        return History(len(self.known[key].curves), LONGEST_S)


class FieldCurves:
    """Selected fields of messages, with a sample per message.

    The first message of each time counts. They start again when the time goes back.
    """

    def __init__(self, fields: FieldSubscriber) -> None:
        self.histories: dict[FieldKey, History] = {}  # samples of the selected fields
        self._fields = fields

    @property
    def selected(self) -> Sequence[FieldKey]:
        """The selected fields."""
        return list(self.histories)

    def select(self, key: FieldKey, is_selected: bool) -> None:
        """Select a field, or do not."""
        others = [each for each in self.histories if each != key]
        self.keep([*others, key] if is_selected else others)

    def keep(self, keys: Sequence[FieldKey]) -> None:
        """Select these fields and no others."""
        self.histories = {key: self.histories.get(key) or History(1, LONGEST_S) for key in keys}
        self._fields.watch(self.selected)

    def update(self) -> None:
        """Add the samples since the last call."""
        for topic, time, values in self._fields.take_samples():
            for path, value in values.items():
                history = self.histories.get(FieldKey(topic, path))
                if history is not None and not _is_late(history, time):
                    history.add(time, np.array([value]))

    def __iter__(self) -> Iterator[Curve]:
        for key, history in self.histories.items():
            group, element = _split(key.path)
            yield Curve(f"{key.topic} {group}".strip(), element, history, 0)


def by_plot(curves: Iterable[Curve]) -> Mapping[str, list[Curve]]:
    """Return the curves of each plot by its label."""
    plots: dict[str, list[Curve]] = {}
    for curve in curves:
        plots.setdefault(curve.plot, []).append(curve)
    return plots


def _is_late(history: History, time: float) -> bool:
    """Return whether a message is older than the last one, but not from after a reset."""
    times = history.times
    return bool(len(times)) and times[-1] - _RESET_S < time < times[-1]


def _split(path: str) -> tuple[str, str]:
    """Return the field or array that a field is part of, and its name there."""
    group, _, element = path.rpartition("[" if path.endswith("]") else ".")
    return group, element.removesuffix("]")
