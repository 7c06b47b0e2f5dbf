"""Numbers that are sampled, disturbed and transported, as by sensors and buses."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from mujoco_ros.model.realism_config import Transport
from mujoco_ros.model.scene.limits import MAX_STATE, too_large

ERRORS = ("noise", "noise_density", "bias", "bias_walk", "quantisation")
_NONE = -1  # in place of the number of a sample: none


@dataclass(frozen=True, kw_only=True)
class ChannelPart:
    """Numbers that are sampled and transported together; their errors, each or of all."""

    count: int  # how many they are
    transport: Transport  # when they are sampled, and when they arrive
    noise: float | Sequence[float] = 0.0  # standard deviation of each sample
    # Density N of white noise: N / √interval is added to `noise`
    noise_density: float | Sequence[float] = 0.0
    bias: float | Sequence[float] = 0.0  # standard deviation of the constant error
    bias_walk: float | Sequence[float] = 0.0  # random walk K of the error: K √t after a time t
    quantisation: float | Sequence[float] = 0.0  # distance of the values; 0 is continuous


@dataclass(eq=False)
class _State:
    """What the next outputs depend on, with the generator of random numbers."""

    step: np.ndarray  # number of steps since the start, in an array (1,)
    output: np.ndarray  # the numbers that arrived last (n,)
    turn_on: np.ndarray  # constant error, in standard deviations (n,)
    walked: np.ndarray  # random walk of the error (n,)
    samples: np.ndarray  # the last samples, by step modulo the capacity (capacity, n)
    # Number of the newest sample of each stream that arrives at a step, by step modulo the capacity
    # (capacity, streams)
    arriving: np.ndarray
    latest: np.ndarray  # number of the last sample of each stream that arrived (streams,)
    lost: np.ndarray  # number of samples of each stream that were lost (streams,)


SavedChannel = tuple[dict[str, np.ndarray], Any]
"""A copy of the arrays of a channel by name, and the state of its random numbers."""


class ImperfectChannel:
    """Numbers of one robot, of which each stream arrives late, rarely, or not at all.

    The order of a sample is: error (bias, noise), quantisation, loss, delay. Until the first sample
    arrives, it is the output nevertheless. MuJoCo's own delays have no error before the delay, no
    jitter and no loss, and its intervals are not whole steps: the 1005th reading of an interval of
    4 ms differs.

    The random numbers depend only on the seed, the key, the number of steps since the start and the
    settings; other robots do not change them.
    """

    def __init__(
        self,
        key: str,
        seed: int,
        size: int,
        correct: Callable[[np.ndarray, np.ndarray], object] | None = None,
    ) -> None:
        """Create a channel, whose `correct` gets samples to change, and the true numbers."""
        self.size = size  # number of numbers
        self._seed = (seed, crc32(key.encode()))
        self._correct = correct
        self._random = np.random.default_rng(self._seed)
        self._drawn = np.zeros(size)
        self._numbers = np.arange(size)
        self._state = _State(*(np.zeros(size) for _ in range(8)))
        self._configured: tuple[tuple[ChannelPart, ...], float] | None = None

    @property
    def output(self) -> np.ndarray:
        """The numbers that have arrived; the array is replaced by a change of the settings."""
        return self._state.output

    @property
    def lost(self) -> int:
        """Number of lost samples since the start."""
        return int(self._state.lost.sum())

    def configure(self, streams: Sequence[ChannelPart], timestep: float) -> None:
        """Set the streams; what is in flight is lost if a delay or the timestep [s] changes."""
        if not streams or self._configured == (tuple(streams), timestep):
            return
        is_new = self._configured is None
        self._configured = tuple(streams), timestep
        self._streams = np.arange(len(streams))
        widths = [stream.count for stream in streams]
        self._stream_of = np.repeat(self._streams, widths)
        transports = [part.transport for part in streams]
        self._every = np.array([max(1, round(each.interval / timestep)) for each in transports])
        self._delay = np.array([round(each.delay / timestep) for each in transports])
        self._jitter = np.array([round(each.jitter / timestep) + 1 for each in transports])
        self._dropout = np.array([transport.dropout for transport in transports])
        self._each_step = bool((self._every == 1).all())
        self._has_jitter = bool((self._jitter > 1).any())
        self._has_loss = bool(self._dropout.any())
        interval = (timestep * self._every)[self._stream_of]
        noise, density, self._bias, walk, self._quantum = (
            np.concatenate(
                [
                    np.broadcast_to(np.array(getattr(part, name), dtype=float), width)
                    for part, width in zip(streams, widths, strict=True)
                ]
            )
            for name in ERRORS
        )
        self._deviation = np.hypot(noise, density / np.sqrt(interval))
        self._walk = walk * np.sqrt(interval)
        self._is_noisy = bool(self._deviation.any())
        self._is_walking = bool(self._walk.any())
        self._has_bias = self._is_walking or bool(self._bias.any())
        self._quantised = np.flatnonzero(self._quantum)
        self._quanta = self._quantum[self._quantised]
        capacity = max(_capacity(transport, timestep) for transport in transports)
        self._is_direct = capacity == 1 and self._each_step and not self._has_loss
        self._allocate(capacity)
        if is_new:
            self.reset()

    def check(self, transport: Transport, timestep: float, where: str) -> None:
        """Reject delays of one stream for which the numbers in flight would exceed `MAX_STATE`."""
        samples = _capacity(transport, timestep)
        if samples * self.size > MAX_STATE:
            what = f"{samples} samples in flight of {self.size} numbers (delay + jitter of "
            what += f"{transport.delay + transport.jitter:g} s, timestep of {timestep:g} s), "
            raise too_large(where, f"{what}{samples * self.size} numbers", MAX_STATE)

    def restart(self) -> None:
        """Forget what is in flight: the next sample is the output at once."""
        self._state.step[:] = 0
        self._state.arriving[:] = self._state.latest[:] = _NONE

    def reset(self) -> None:
        """Return to the start, with the same random numbers again."""
        self.restart()
        self._random = np.random.default_rng(self._seed)
        self._state.turn_on[:] = self._random.standard_normal(self.size)
        self._state.walked[:] = 0.0
        self._state.lost[:] = 0

    def save(self) -> SavedChannel:
        """Return a copy of the state, for `restore`."""
        arrays = {name: array.copy() for name, array in vars(self._state).items()}
        return arrays, deepcopy(self._random.bit_generator.state)

    def restore(self, saved: SavedChannel) -> None:
        """Continue from a saved state; with other delays, without what was in flight."""
        own, (arrays, random) = vars(self._state), saved
        if own["output"].shape != arrays["output"].shape:
            return
        fits = {name: own[name].shape == array.shape for name, array in arrays.items()}
        for name, array in arrays.items():
            if fits[name]:
                own[name][:] = array
        self._random.bit_generator.state = random
        if not all(fits.values()):
            self.restart()

    def update(self, truth: np.ndarray) -> None:
        """Sample the true numbers (n,), and update `output`."""
        state = self._state
        step = int(state.step[0])
        slot = step % len(state.samples)
        sample = state.samples[slot]
        if self._each_step:
            self._sample(truth, sample)
        else:
            due = step % self._every == 0
            if due.any():
                self._sample(truth, sample, due)
        if self._is_direct or not step:
            state.output[:] = sample
        if not self._is_direct:
            self._send(step, None if self._each_step else due)
            self._receive(slot)
        state.step[0] = step + 1

    def _sample(self, truth: np.ndarray, sample: np.ndarray, due: np.ndarray | None = None) -> None:
        drawn, state = self._drawn, self._state
        sample[:] = truth
        if self._is_walking:
            self._random.standard_normal(out=drawn)
            drawn *= self._walk
            if due is not None:
                drawn *= due[self._stream_of]
            state.walked += drawn
        if self._has_bias:
            np.multiply(state.turn_on, self._bias, out=drawn)
            sample += drawn
            sample += state.walked
        if self._is_noisy:
            self._random.standard_normal(out=drawn)
            drawn *= self._deviation
            sample += drawn
        if len(self._quantised):
            quanta = self._quanta
            sample[self._quantised] = np.rint(sample[self._quantised] / quanta) * quanta
        if self._correct is not None:
            self._correct(sample, truth)

    def _send(self, step: int, due: np.ndarray | None) -> None:
        """Enter the sample of a step at the steps at which its streams arrive."""
        streams, arrival = self._streams, step + self._delay
        if self._has_jitter:
            arrival = arrival + (self._random.random(len(streams)) * self._jitter).astype(np.intp)
        if self._has_loss:
            kept = self._random.random(len(streams)) >= self._dropout
            lost = ~kept if due is None else due & ~kept
            self._state.lost += lost
            due = kept if due is None else due & kept
        if due is not None:
            streams, arrival = streams[due], arrival[due]
        self._state.arriving[arrival % len(self._state.arriving), streams] = step

    def _receive(self, slot: int) -> None:
        """Write the numbers that arrive at a step to the output."""
        state, arriving = self._state, self._state.arriving[slot]
        new = arriving > state.latest
        if new.any():
            state.latest[new] = arriving[new]
            numbers = self._numbers if new.all() else self._numbers[new[self._stream_of]]
            rows = arriving[self._stream_of[numbers]] % len(state.samples)
            state.output[numbers] = state.samples[rows, numbers]
        arriving[:] = _NONE

    def _allocate(self, capacity: int) -> None:
        """Allocate the state for other settings, without what was in flight."""
        before, streams = self._state, len(self._streams)
        if before.samples.shape == (capacity, self.size) and before.latest.shape == (streams,):
            return
        self._state = _State(
            step=np.zeros(1, dtype=np.int64),
            output=before.output,
            turn_on=before.turn_on,
            walked=before.walked,
            samples=np.zeros((capacity, self.size)),
            arriving=np.full((capacity, streams), _NONE, dtype=np.int64),
            latest=np.full(streams, _NONE, dtype=np.int64),
            lost=np.zeros(streams, dtype=np.int64),
        )


def _capacity(transport: Transport, timestep: float) -> int:
    """Return the number of samples that are in flight at most."""
    return round(transport.delay / timestep) + round(transport.jitter / timestep) + 1
