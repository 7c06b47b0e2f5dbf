"""Training of the policy by brax's PPO."""

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from brax.training.acme import running_statistics, specs
from brax.training.agents.ppo import networks
from brax.training.agents.ppo import train as ppo
from flax import serialization
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from training.environment import CRITIC, POLICY, TrotEnvironment
from training.network_export import policy_layers, write_policy
from training.policy_table import load_policy_table
from training.robot_model import make_robot
from training.settings import Settings, Weights

NAME = "trot_policy"
"""Name of the files of the policy and of the curve of its training."""
_EPISODE = "episode/"
_COLUMNS = ("sum_reward", "length", "fallen", *asdict(Weights()))
"""Means of the last 100 episodes in the curve."""
_SETTINGS = (
    *("num_timesteps", "num_envs", "unroll_length", "batch_size", "num_minibatches"),
    *("num_updates_per_batch", "learning_rate", "entropy_cost", "discounting"),
    *("reward_scaling", "max_grad_norm"),
)
"""Settings of `Ppo` that have the same names in brax."""


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
        limit_s: Longest wall time; the last checkpoint is then the result [s].
        resume: Checkpoint to continue from.
    """
    began = time.monotonic()
    # Physics needs more than the 10 bits of mantissa that graphics cards multiply with by default.
    jax.config.update("jax_default_matmul_precision", "highest")
    table = load_policy_table()
    environment = TrotEnvironment(make_robot(table, settings.timestep), table, settings)
    curve = _Curve(folder / f"{NAME}.csv", began, report)

    def save(step: int, _make_policy: object, parameters: Any) -> None:
        parameters = jax.device_get(parameters)
        wall_s = time.monotonic() - began
        report(f"{step} steps after {wall_s:.0f} s")
        if step:
            metadata = {"seed": str(settings.seed), "steps": str(step), "wall_s": f"{wall_s:.0f}"}
            save_policy(folder, parameters, environment.action_size, metadata)
        if wall_s > limit_s:
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
            progress_fn=curve.add,
            policy_params_fn=save,
            restore_params=None if resume is None else load_checkpoint(resume, environment),
            **{name: value for name, value in asdict(settings.ppo).items() if name in _SETTINGS},
        )
    except _OutOfTimeError:
        report("the longest wall time is over")


def save_policy(
    folder: Path, parameters: Sequence[Any], actions: int, metadata: Mapping[str, str]
) -> None:
    """Write a checkpoint and the policy.

    Args:
        folder: The folder.
        parameters: Statistics of the inputs, parameters of the policy, of the value function.
        actions: Number of actions.
        metadata: Texts in the ONNX file by name.
    """
    state = serialization.to_state_dict(list(parameters))
    (folder / f"{NAME}.msgpack").write_bytes(serialization.msgpack_serialize(state))
    statistics, policy = parameters[0], parameters[1]
    mean, deviation = (np.asarray(it[POLICY]) for it in (statistics.mean, statistics.std))
    layers = policy_layers(mean, deviation, policy["params"], actions)
    write_policy(folder / f"{NAME}.onnx", layers, metadata)


def load_checkpoint(path: Path, environment: TrotEnvironment) -> tuple[Any, Any, Any]:
    """Read statistics of the inputs, parameters of the policy and of the value function."""
    state = serialization.msgpack_restore(path.read_bytes())
    sizes = environment.observation_size
    arrays = {name: specs.Array((size,), np.dtype("float32")) for name, size in sizes.items()}
    empty = running_statistics.init_state(arrays)
    statistics = serialization.from_state_dict(empty, state["0"])
    return statistics, state["1"], state["2"]


class _Curve:
    """The curve of a training, in a CSV file that is complete after each point."""

    def __init__(self, path: Path, began: float, report: Callable[[str], object]) -> None:
        self._path, self._began, self._report = path, began, report
        self._rows: list[dict[str, float]] = []

    def add(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Add a point, if the metrics are of episodes."""
        if f"{_EPISODE}length" not in metrics:
            return
        means = {name: float(metrics[_EPISODE + name]) for name in _COLUMNS}
        self._rows.append({"steps": step, "wall_s": time.monotonic() - self._began, **means})
        with self._path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self._rows[-1]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({key: f"{it:.6g}" for key, it in row.items()} for row in self._rows)
        self._report(
            f"{step} steps: reward {means['sum_reward']:.1f}, length {means['length']:.0f}, "
            f"{means['fallen']:.0%} fallen"
        )


def _put_replicated(tree: Any, devices: Sequence[Any]) -> Any:
    """Return arrays with a first axis of copies, one on each device."""
    sharding = NamedSharding(Mesh(np.array(devices), ("device",)), PartitionSpec("device"))

    def put(values: Any) -> Any:
        return jax.device_put(jnp.stack([jnp.asarray(values)] * len(devices)), sharding)

    return jax.tree.map(put, tree)
