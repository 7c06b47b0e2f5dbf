"""Options of `evaluate` for datasets: their recording and their replay."""

import argparse
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.cli.command_line import FAILED
from mujoco_ros.cli.dataset_options import add_shared_options, check_absent
from mujoco_ros.cli.terminal import write
from mujoco_ros.controllers.catalogue import load_table
from mujoco_ros.controllers.evaluation.demonstration_recording import (
    DemonstrationRun,
    DemonstrationSettings,
    check_settings,
)
from mujoco_ros.controllers.evaluation.demonstration_replay import replay_demonstration
from mujoco_ros.controllers.evaluation.episode import Episode, Identity, identity_of
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import UNFINISHED
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.recording.demonstrations import lerobot_dataset
from mujoco_ros.recording.demonstrations.demonstration_file import SEED

_FPS = 25
_LARGEST_ERROR = 1e-6  # of a replay [m, rad, m/s, rad/s]
_DEPENDENT = ("fps", "cameras", "task", "codec", "failures")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of datasets."""
    group = parser.add_argument_group("datasets for learning")
    group.add_argument(
        "--dataset",
        type=Path,
        metavar="DIR",
        help="record the successful episodes into a new LeRobot dataset",
    )
    add_shared_options(
        group,
        fps=f"of which the controller's rate is a multiple; default: {_FPS}",
        cameras="all of the scene",
        task="the task; default: name of the controller",
    )
    group.add_argument("--failures", action="store_true", help="record failed episodes as well")
    group.add_argument(
        "--replay",
        type=Path,
        metavar="DIR",
        help="repeat the commands of a dataset, or of its episode --episode, from the same start, "
        "and print the largest difference of the states",
    )


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with an error if the options of datasets do not fit the others."""
    if options.dataset is None:
        check_absent(parser, options, _DEPENDENT, "is for --dataset")
    elif options.cluster or options.check or options.episode is not None:
        parser.error("--dataset is not for --cluster, --check and --episode")
    if options.replay is not None and (options.dataset or options.check or options.resume):
        parser.error("--replay is not for --dataset, --check and --resume")


class DatasetJob:
    """The recording of a dataset during an evaluation."""

    def __init__(
        self, options: argparse.Namespace, trial: Trial, identity: Identity, assembly: Assembly
    ) -> None:
        """Check all options, before the first episode; `assembly` is the trial's scene."""
        settings = DemonstrationSettings(
            fps=options.fps or _FPS,
            cameras=options.cameras,
            failures=options.failures,
            task=options.task or trial.controller.replace("_", " "),
        )
        check_settings(settings, FsmController(load_table(trial.controller)), lay_out(assembly))
        lerobot_dataset.check_new(options.dataset)
        self.run = DemonstrationRun(trial, settings, options.output, identity)  # runs the episodes
        self._folder, self._codec = options.dataset, options.codec or lerobot_dataset.DEFAULT_CODEC
        command = ["evaluate", options.controller, "--seed", str(options.seed)]
        command += ["--random", options.random] if options.random else []
        command += [word for setting in options.set for word in ("--set", setting)]
        self._description = {"command": shlex.join(command), **identity}

    def prepare(self) -> None:
        """Create the folder of episodes, without unfinished files; nothing else may write there."""
        self.run.folder.mkdir(exist_ok=True)
        for left in self.run.folder.glob(f"{UNFINISHED}*"):
            left.unlink()

    def write(self, episodes: Iterable[Episode]) -> None:
        """Write the dataset from the files of the episodes, which an error keeps for --resume."""
        chosen = [episode for episode in episodes if self.run.wants(episode)]
        if not chosen:
            raise UserInputError("no episode succeeded, so there is no dataset")
        tenth = max(1, len(chosen) // 10)

        def report(count: int) -> None:
            if count % tenth == 0 or count == len(chosen):
                write(f"{count} of {len(chosen)} written into the dataset", "evaluate")

        described = [(self.run.path(episode.seed), _described(episode)) for episode in chosen]
        written = lerobot_dataset.write_dataset(
            self._folder, self._codec, described, self._description, report
        )
        shutil.rmtree(self.run.folder)
        sys.stdout.write(f"{written}\n")


def _described(episode: Episode) -> dict[str, Any]:
    conditions = dict(episode.conditions)
    return {"seed": episode.seed, "outcome": episode.outcome, "conditions": conditions}


def replay(options: argparse.Namespace, trial: Trial) -> int:
    """Repeat the episodes of a dataset; return the exit code."""
    assembly = assemble(trial.scene_config())
    here = identity_of(trial, options.seed, assembly)
    _check_identity(options.replay, lerobot_dataset.read_description(options.replay), here)
    replays = []
    for columns in _chosen(options.replay, options.episode):
        found = replay_demonstration(trial, assembly, columns)
        text = f"largest difference {found.error:.3g}"
        if found.diverged_at is not None:
            text += f"; the simulation diverged at {found.diverged_at:g} s"
        sys.stdout.write(f"episode {int(columns[SEED].flat[0])}: {text}\n")
        replays.append(found)
    if not replays:
        raise UserInputError(f"'{options.replay}' has no episodes")
    good = sum(replay.is_within(_LARGEST_ERROR) for replay in replays)
    sys.stdout.write(f"{good} of {len(replays)} repeated within {_LARGEST_ERROR:g}\n")
    return 0 if good == len(replays) else FAILED


def _chosen(folder: Path, seed: int | None) -> Iterator[Mapping[str, Any]]:
    seeds = []
    for columns in lerobot_dataset.read_replays(folder):
        if SEED not in columns or not columns[SEED].size:
            raise UserInputError(f"'{folder}' has no column '{SEED}', which a replay needs")
        seeds.append(int(columns[SEED].flat[0]))
        if seed in (None, seeds[-1]):
            yield columns
    if seed is not None and seed not in seeds:
        shown = ", ".join(map(str, seeds[:10])) + (", …" if len(seeds) > 10 else "")
        raise UserInputError(f"'{folder}' has no episode {seed}; it has {shown}")


def _check_identity(folder: Path, described: Mapping[str, Any], here: Identity) -> None:
    for name in ("trial", "scene"):
        if described.get(name) != here[name]:
            raise UserInputError(
                f"'{folder}' is of another evaluation: its {name} differs; it was recorded by: "
                f"{described.get('command')}"
            )
    for name in ("mujoco", "code"):
        if described.get(name) != here[name]:
            sys.stderr.write(f"the dataset has another version of {name}, so states may differ\n")
