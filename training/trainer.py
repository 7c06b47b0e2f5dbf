"""Training of the policy by brax's PPO."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import msgpack
import numpy as np
from brax.training.acme import running_statistics, specs
from brax.training.agents.ppo import networks
from brax.training.agents.ppo import train as ppo
from flax import serialization
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from training.environment import CRITIC, POLICY, TrotEnvironment
from training.network_export import policy_layers, write_policy
from training.policy_table import load_policy_table
from training.result_files import (
    CHECKPOINT_SUFFIX,
    CURVE_SUFFIX,
    NAME,
    POLICY_SUFFIX,
    Curve,
    Progress,
    TrainingError,
    replace_file,
)
from training.robot_model import make_robot
from training.settings import Settings

_SETTINGS = (
    *("num_timesteps", "num_envs", "unroll_length", "batch_size", "num_minibatches"),
    *("num_updates_per_batch", "learning_rate", "entropy_cost", "discounting"),
    *("reward_scaling", "max_grad_norm"),
)
"""Settings of `Ppo` that have the same names in brax."""
_PROGRESS = "progress"
"""Key in the checkpoint."""


class _OutOfTimeError(Exception):
    """The longest wall time is over."""


def train(
    settings: Settings,
    folder: Path,
    *,
    evaluations: int,
    report: Callable[[str], object],
    limit_s: float = float("inf"),
    resume: Path | None = None,
) -> None:
    """Train, and write ``trot_policy.onnx``, the curve and the checkpoint into a folder.

    Args:
        settings: All settings.
        folder: The folder, which exists.
        evaluations: Number of points of the curve, each with a checkpoint.
        report: Called with a line of progress.
        limit_s: Longest wall time of this run; the last checkpoint is then the result [s].
        resume: Checkpoint to continue from, with its curve and its count of steps. It has no state
            of the optimiser, which restarts.

    Raises:
        TrainingError: `resume`, or the curve beside it, cannot be continued; or parameters are not
            finite, and the policy and checkpoint of the last point are kept.
    """
    began = time.monotonic()
    # Physics needs more than the 10 bits of mantissa that graphics cards multiply with by default.
    jax.config.update("jax_default_matmul_precision", "highest")
    table = load_policy_table()
    environment = TrotEnvironment(make_robot(table, settings.timestep), table, settings)
    restored, before, previous = None, Progress(), None
    if resume is not None:
        restored, before = load_checkpoint(resume, environment)
        previous = resume.with_suffix(CURVE_SUFFIX)
    curve = Curve(folder / f"{NAME}{CURVE_SUFFIX}", previous, before.steps)

    def progress(step: int) -> Progress:
        return Progress(before.steps + step, before.wall_s + time.monotonic() - began)

    def add(step: int, metrics: Mapping[str, Any]) -> None:
        if line := curve.add(progress(step), metrics):
            report(line)

    def save(step: int, _make_policy: object, parameters: Any) -> None:
        now = progress(step)
        report(f"{now.steps} steps after {now.wall_s:.0f} s")
        if step:
            parameters = jax.device_get(parameters)
            save_policy(folder, parameters, environment.action_size, settings.seed, now)
        if time.monotonic() - began > limit_s:
            raise _OutOfTimeError

    if not hasattr(jax, "device_put_replicated"):
        jax.device_put_replicated = _put_replicated  # brax 0.14 calls it, JAX 0.10 removed it
    hidden = settings.ppo.hidden
    try:
        ppo.train(
            environment,
            episode_length=round(settings.episode_s / table.period),
            normalize_observations=True,
            network_factory=partial(
                networks.make_ppo_networks,
                policy_hidden_layer_sizes=hidden,
                value_hidden_layer_sizes=hidden,
                policy_obs_key=POLICY,
                value_obs_key=CRITIC,
            ),
            seed=settings.seed,
            num_evals=evaluations + 1,
            run_evals=False,
            log_training_metrics=True,
            training_metrics_steps=settings.ppo.num_timesteps // evaluations,
            progress_fn=add,
            policy_params_fn=save,
            restore_params=restored,
            **{name: value for name, value in asdict(settings.ppo).items() if name in _SETTINGS},
        )
    except _OutOfTimeError:
        report("the longest wall time is over")


def save_policy(
    folder: Path, parameters: Sequence[Any], actions: int, seed: int, progress: Progress
) -> None:
    """Write a checkpoint and the policy.

    Args:
        parameters: Statistics of the inputs, parameters of the policy, of the value function.
        actions: Number of actions.
        seed: Seed of the run, for the metadata of the policy.
        progress: How long the policy was trained.

    Raises:
        TrainingError: Parameters are not finite. Nothing is written.
    """
    if not all(np.isfinite(values).all() for values in jax.tree.leaves(list(parameters))):
        raise TrainingError(f"parameters after {progress.steps} steps are not finite")
    state = serialization.to_state_dict(list(parameters)) | {_PROGRESS: progress._asdict()}
    checkpoint = serialization.msgpack_serialize(state)
    replace_file(folder / f"{NAME}{CHECKPOINT_SUFFIX}", checkpoint)
    statistics, policy = parameters[0], parameters[1]
    mean, deviation = (np.asarray(moment[POLICY]) for moment in (statistics.mean, statistics.std))
    layers = policy_layers(mean, deviation, policy["params"], actions)
    texts = {"seed": seed, "steps": progress.steps, "wall_s": round(progress.wall_s)}
    metadata = {name: str(value) for name, value in texts.items()}
    write_policy(folder / f"{NAME}{POLICY_SUFFIX}", layers, metadata)


def load_checkpoint(
    path: Path, environment: TrotEnvironment
) -> tuple[tuple[Any, Any, Any], Progress]:
    """Read a checkpoint.

    Returns:
        Statistics of the inputs, parameters of the policy and of the value function; and how long
        the policy was trained.

    Raises:
        TrainingError: The file is not a checkpoint of `save_policy`.
    """
    sizes = environment.observation_size
    arrays = {name: specs.Array((size,), np.dtype("float32")) for name, size in sizes.items()}
    empty = running_statistics.init_state(arrays)
    try:
        state = serialization.msgpack_restore(path.read_bytes())
        statistics = serialization.from_state_dict(empty, state["0"])
        return (statistics, state["1"], state["2"]), Progress(**state[_PROGRESS])
    except (KeyError, TypeError, ValueError, msgpack.UnpackException) as error:
        raise TrainingError(f"{path} is not a checkpoint of the training: {error!r}") from error


def _put_replicated(tree: Any, devices: Sequence[Any]) -> Any:
    """Return arrays with a first axis of copies, one on each device."""
    sharding = NamedSharding(Mesh(np.array(devices), ("device",)), PartitionSpec("device"))

    def put(values: Any) -> Any:
        return jax.device_put(jnp.stack([jnp.asarray(values)] * len(devices)), sharding)

    return jax.tree.map(put, tree)
