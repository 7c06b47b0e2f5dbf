"""Train the policy, and write it with the curve of its training: ``python -m training``."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training.environment import small
from training.policy_table import ROOT
from training.settings import Settings
from training.trainer import train

_SMALL_ENVS, _SMALL_STEPS = 8, 4000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _parser().parse_args(arguments)
    settings = replace(Settings(), seed=options.seed)
    if options.steps:
        settings = replace(settings, ppo=replace(settings.ppo, num_timesteps=options.steps))
    if options.small:
        settings = small(settings, _SMALL_ENVS, _SMALL_STEPS)
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    train(
        settings,
        folder,
        evaluations=options.points,
        limit_s=options.limit,
        resume=options.resume,
        report=lambda text: print(text, flush=True),
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="training", description=__doc__)
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "build" / "training",
        metavar="FOLDER",
        help="folder of the policy, its curve and the checkpoint; default: build/training",
    )
    parser.add_argument("--seed", type=int, default=Settings().seed, help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=0, help="steps of the policy in all")
    parser.add_argument(
        "--points", type=int, default=66, help="points of the curve, and checkpoints; default: 66"
    )
    parser.add_argument(
        "--limit", type=float, default=float("inf"), metavar="S", help="longest wall time [s]"
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="checkpoint to continue from")
    parser.add_argument("--small", action="store_true", help="a short training, to try the program")
    return parser


if __name__ == "__main__":
    sys.exit(main())
