"""Durations of the measurements."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Durations:
    """Durations of the measurements [s], or numbers of repetitions."""

    raw_steps: int = 20_000
    publishing: float = 30.0
    profile: float = 15.0
    unpaced: float = 15.0
    paced: float = 60.0
    jitter: float = 600.0
    busy_processes: int = 4
    memory_from: float = 60.0
    memory_to: float = 600.0
    starts: int = 5
    zoo: float = 15.0
    updates: int = 20_000
    latency: float = 30.0
    alternating: float = 48.0
    gains: float = 30.0
    recording: float = 20.0
    shared_memory: float = 10.0
    watched: float = 30.0
    throttled: float = 300.0
    lab_episodes: int = 50
    table_episodes: int = 500
    perturbed_episodes: int = 500
    handover_episodes: int = 50
    rendering: float = 0.7  # for each kind of image
    calls: float = 10.0
    killed_clients: int = 10
    warm_up_cycles: int = 20  # of spawning and deleting
    cycles: int = 200
    resets: int = 100
    pause: float = 10.0
    long_run_from: float = 60.0
    long_run_to: float = 660.0
    executors: float = 30.0
    lockstep: float = 20.0
    held_resets: int = 20
    controllers: float = 10.0
    walking: float = 60.0
    footprint: float = 5.0
    first_images: int = 5
    robots: tuple[int, ...] = (1, 5, 20, 50)
    rovers: tuple[int, ...] = (1, 5, 10, 20)
    scale: float = 10.0
    settle: float = 60.0  # longest time to settle, where that is not measured
    tracking: float = 60.0  # longest of the tracked motions
    pages: int = 3  # kinds of pages


FULL = Durations()
QUICK = Durations(
    raw_steps=5_000,
    publishing=8.0,
    profile=4.0,
    unpaced=5.0,
    paced=10.0,
    jitter=20.0,
    memory_from=5.0,
    memory_to=15.0,
    starts=2,
    zoo=4.0,
    updates=5_000,
    latency=8.0,
    alternating=16.0,
    gains=8.0,
    recording=6.0,
    shared_memory=3.0,
    watched=6.0,
    throttled=10.0,
    lab_episodes=4,
    table_episodes=8,
    perturbed_episodes=8,
    handover_episodes=4,
    rendering=0.1,
    calls=3.0,
    killed_clients=3,
    warm_up_cycles=5,
    cycles=15,
    resets=15,
    pause=3.0,
    long_run_from=15.0,
    long_run_to=45.0,
    executors=6.0,
    lockstep=5.0,
    held_resets=4,
    controllers=3.0,
    walking=5.0,
    footprint=2.0,
    first_images=2,
    robots=(1, 20),
    rovers=(1, 20),
    scale=4.0,
)
CHECK = replace(
    QUICK,
    raw_steps=1_000,
    publishing=1.0,
    profile=0.5,
    unpaced=0.5,
    paced=1.0,
    jitter=1.0,
    busy_processes=1,
    memory_from=3.0,
    memory_to=3.1,
    starts=1,
    zoo=0.5,
    updates=500,
    latency=0.5,
    alternating=4.0,
    gains=0.5,
    recording=1.0,
    shared_memory=0.2,
    watched=1.0,
    throttled=1.0,
    lab_episodes=1,
    table_episodes=1,
    perturbed_episodes=1,
    handover_episodes=1,
    rendering=0.0,
    calls=0.3,
    killed_clients=1,
    warm_up_cycles=1,
    cycles=1,
    resets=1,
    pause=0.2,
    long_run_from=3.0,
    long_run_to=3.1,
    executors=0.3,
    lockstep=0.5,
    held_resets=1,
    controllers=0.5,
    walking=0.5,
    footprint=0.1,
    first_images=1,
    robots=(2,),
    rovers=(2,),
    scale=0.5,
    settle=1.0,
    tracking=5.0,
    pages=1,
)
"""The shortest ones: whether a measurement works, not what it measures."""
