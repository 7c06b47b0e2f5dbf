"""How long the measurements take."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long each measurement takes, in seconds unless said otherwise."""

    raw_steps: int = 20_000
    publishing: float = 30.0
    profile: float = 15.0
    unpaced: float = 15.0
    paced: float = 60.0
    memory_from: float = 60.0
    memory_to: float = 600.0
    starts: int = 5
    zoo: float = 15.0
    updates: int = 20_000
    latency: float = 30.0
    alternating: float = 48.0
    gains: float = 30.0
    recording: float = 20.0
    sharing: float = 10.0
    eyes: float = 30.0
    lab_episodes: int = 50
    table_episodes: int = 500
    drawing: float = 0.7  # for each kind of picture
    flood: float = 10.0
    deaths: int = 10  # clients
    cycles_before: int = 20  # cycles of spawning and deleting
    cycles: int = 200
    resets: int = 100  # resets
    pause: float = 10.0
    soak_from: float = 60.0
    soak_to: float = 660.0


FULL = Plan()
QUICK = Plan(
    raw_steps=5_000,
    publishing=8.0,
    profile=4.0,
    unpaced=5.0,
    paced=10.0,
    memory_from=5.0,
    memory_to=15.0,
    starts=2,
    zoo=4.0,
    updates=5_000,
    latency=8.0,
    alternating=16.0,
    gains=8.0,
    recording=6.0,
    sharing=3.0,
    eyes=6.0,
    lab_episodes=4,
    table_episodes=8,
    drawing=0.1,
    flood=3.0,
    deaths=3,
    cycles_before=5,
    cycles=15,
    resets=15,
    pause=3.0,
    soak_from=15.0,
    soak_to=45.0,
)
