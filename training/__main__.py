"""Train the policy, and write it with the curve of its training: ``python -m training``."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training.policy_table import ROOT
from training.result_files import TrainingError, check_folder
from training.settings import Settings, small

_SMALL_ENVS, _SMALL_STEPS = 8, 4000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    settings = replace(Settings(), seed=options.seed)
    if options.small:
        settings = small(settings, _SMALL_ENVS, _SMALL_STEPS)
    if options.steps is not None:
        settings = replace(settings, ppo=replace(settings.ppo, num_timesteps=options.steps))
    folder: Path = options.output
    steps = settings.ppo.num_timesteps
    if options.points > steps:
        parser.error(f"argument --points: {options.points} is more than the {steps} steps")
    try:
        check_folder(folder, options.resume)
        folder.mkdir(parents=True, exist_ok=True)
    except (TrainingError, OSError) as error:
        parser.error(f"argument --output: {error}")
    # The import of brax takes seconds, and the arguments are checked without it.
    from training.trainer import train

    try:
        train(
            settings,
            folder,
            evaluations=options.points,
            limit_s=options.limit,
            resume=options.resume,
            report=lambda text: print(text, flush=True),
        )
    except TrainingError as error:
        print(f"training: {error}", file=sys.stderr)
        return 1
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
    parser.add_argument("--seed", type=_seed, default=Settings().seed, help="default: %(default)s")
    parser.add_argument("--steps", type=_count, help="steps of the policy in this run")
    parser.add_argument(
        "--points",
        type=_count,
        default=66,
        help="points of the curve, and checkpoints; default: 66",
    )
    parser.add_argument(
        "--limit",
        type=_duration,
        default=float("inf"),
        metavar="S",
        help="longest wall time of this run [s]",
    )
    parser.add_argument(
        "--resume",
        type=_file,
        metavar="FILE",
        help="checkpoint to continue from, with its curve; the optimiser restarts",
    )
    parser.add_argument("--small", action="store_true", help="a short training, to try the program")
    return parser


def _seed(text: str) -> int:
    return _at_least(0, text)


def _count(text: str) -> int:
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
    return value


def _duration(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return value


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


if __name__ == "__main__":
    sys.exit(main())
