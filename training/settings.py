"""Settings of the training."""

from dataclasses import dataclass, field, replace

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Randomisation:
    """What differs from episode to episode, and disturbs the robot; distributions are uniform.

    The initial positions are drawn once for each of the parallel environments, which begins all its
    episodes with them.

    Attributes:
        friction: Friction of feet and floor.
        trunk_mass: Factor on the mass of the trunk.
        link_mass: Factor on the mass of each other link.
        trunk_com: Largest displacement of the trunk's centre of mass along each axis [m].
        kp: Factor on the proportional gains.
        kd: Factor on the derivative gains.
        armature: Factor on the inertia of the rotors.
        delay: Time until a target begins to act [s].
        push: Largest change of the horizontal velocity of the base by a push [m/s].
        push_interval: Time between two pushes [s].
        position_noise: Largest error of joint positions [rad].
        velocity_noise: Largest error of joint velocities [rad/s].
        rate_noise: Largest error of the angular velocity [rad/s].
        gravity_noise: Largest error of the direction of gravity.
        start: Largest difference of each joint from its initial position [rad].
    """

    friction: Range = (0.4, 1.6)
    trunk_mass: Range = (0.85, 1.2)
    link_mass: Range = (0.95, 1.05)
    trunk_com: float = 0.03
    kp: Range = (0.9, 1.1)
    kd: Range = (0.8, 1.2)
    armature: Range = (0.7, 1.5)
    delay: Range = (0.0, 0.012)
    push: float = 0.8
    push_interval: Range = (2.0, 6.0)
    position_noise: float = 0.02
    velocity_noise: float = 0.8
    rate_noise: float = 0.15
    gravity_noise: float = 0.03
    start: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Commands:
    """Random commands; their ranges are in the table.

    Attributes:
        interval: Time between two commands [s].
        standing: Part of the commands that are zero.
        straight: Part of the others without a sideways velocity, and of those without a turn.
        least: Norm of a command below which the robot stands [m/s, rad/s].
    """

    interval: Range = (3.0, 8.0)
    standing: float = 0.12
    straight: float = 0.4
    least: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Weights of the reward's terms, which `rewards` describes."""

    velocity: float = 1.5
    yaw_rate: float = 0.8
    gait: float = 1.5
    upright: float = 0.5
    vertical_velocity: float = -0.5
    tilt_rate: float = -0.02
    tilt: float = -2.0
    height: float = -20.0
    effort: float = -1e-4
    power: float = -3e-4
    action_rate: float = -0.03
    hips: float = -0.3
    slip: float = -0.1
    standing: float = -0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Ppo:
    """Settings of PPO (Schulman et al., 2017), named as in brax.

    Attributes:
        hidden: Widths of the hidden layers of policy and value function.
    """

    num_timesteps: int = 129_000_000
    num_envs: int = 8192
    unroll_length: int = 20
    batch_size: int = 256
    num_minibatches: int = 32
    num_updates_per_batch: int = 4
    learning_rate: float = 3e-4
    entropy_cost: float = 1e-2
    discounting: float = 0.97
    reward_scaling: float = 1.0
    max_grad_norm: float = 1.0
    hidden: tuple[int, ...] = (256, 128, 128)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings of a training.

    Attributes:
        seed: Seed of all random numbers.
        timestep: Of the physics [s]; the shipped scene has 1 ms.
        episode_s: Length of an episode [s].
        height: Wanted height of the base [m].
        swing_height: Height of the feet in the middle of a swing [m].
    """

    seed: int = 1
    timestep: float = 0.005
    episode_s: float = 20.0
    height: float = 0.385
    swing_height: float = 0.08
    randomisation: Randomisation = field(default_factory=Randomisation)
    commands: Commands = field(default_factory=Commands)
    weights: Weights = field(default_factory=Weights)
    ppo: Ppo = field(default_factory=Ppo)


def small(settings: Settings, num_envs: int, num_timesteps: int) -> Settings:
    """Return settings of a training with few environments and steps, to try the program."""
    ppo = replace(
        settings.ppo,
        num_envs=num_envs,
        num_timesteps=num_timesteps,
        batch_size=num_envs,
        num_minibatches=1,
        hidden=(32, 32),
    )
    return replace(settings, ppo=ppo)
