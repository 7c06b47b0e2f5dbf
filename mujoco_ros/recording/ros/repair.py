"""Repair of a bag: another bag with all that is sound of a damaged or unfinished one."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import locked
from mujoco_ros.recording.bag_contents import BagContents
from mujoco_ros.recording.bag_file import BagFile
from mujoco_ros.recording.mcap_scan import McapScan
from mujoco_ros.wire.names import ros_distribution

_ROSBAG2 = "rosbag2"  # name of the record in a file that repeats metadata.yaml


class RepairResult(NamedTuple):
    """What was found in a bag, the repaired bag, and the original if it was moved."""

    contents: BagContents
    output: Path
    original: Path


def repair(bag: Path, output: Path | None = None, *, in_place: bool = False) -> RepairResult:
    """Write the sound messages of a bag, with an index and metadata.yaml, into another bag.

    The original does not change. In place, it gets another name and the new bag its name. Bag and
    output are folders or files; by default, the output is beside the bag.
    """
    bag = bag.absolute()
    bag = bag.resolve() if bag.name in ("", "..") else bag
    original = _beside(bag, "_original") if in_place else bag
    output = output or _beside(bag, "_repaired")
    for path in (output, original) if in_place else (output,):
        if os.path.lexists(path):
            raise UserInputError(f"'{path}' exists; move it, or name another one by --output")
    if not bag.exists():
        raise UserInputError(f"there is no bag '{bag}'")
    if bag.is_file() and output.suffix != ".mcap":
        raise UserInputError(
            f"'{output}' would be a file, as '{bag}' is one; give it a name that ends in .mcap"
        )
    if bag.resolve() in output.resolve().parents:
        raise UserInputError(f"'{output}' is in the bag; name another one by --output")
    lock = locked(bag if bag.is_dir() else bag.parent)
    try:
        contents = BagContents(bag, ros_distribution(), skips=True)
        before = _stamps(contents)
        try:
            _write(contents, output)
            if _stamps(contents) != before:
                raise UserInputError(f"'{bag}' is being written; end the recording first")
        except BaseException:
            if output.is_dir():
                shutil.rmtree(output, ignore_errors=True)
            else:
                output.unlink(missing_ok=True)
            raise
        if in_place:
            bag.rename(original)
            output.rename(bag)
            output = bag
    finally:
        os.close(lock)
    return RepairResult(contents, output, original)


def _beside(bag: Path, suffix: str) -> Path:
    return bag.with_name(f"{bag.name}{suffix}" if bag.is_dir() else f"{bag.stem}{suffix}.mcap")


def _stamps(contents: BagContents) -> list[tuple[int, int]]:
    """Return size and time of change of the files."""
    found = [scan.path.stat() for scan in contents.scans]
    return [(status.st_size, status.st_mtime_ns) for status in found]


def _write(contents: BagContents, output: Path) -> None:
    is_folder = contents.bag.is_dir()
    output.parent.mkdir(parents=True, exist_ok=True)
    if is_folder:
        output.mkdir(mode=0o700)
    for scan in contents.scans:
        path = output / scan.path.name if is_folder else output
        if scan.is_indexed and not (scan.damages or scan.is_lossy):
            shutil.copy(scan.path, path)
        else:
            _write_file(contents, scan, path)
    if is_folder:
        contents.metadata.save(output)


def _write_file(contents: BagContents, scan: McapScan, path: Path) -> None:
    compressions = [block.compression or "none" for block in scan.blocks]
    compression = max(sorted(set(compressions)), key=compressions.count, default="none")
    file = BagFile(path, compression, profile=scan.profile)
    try:
        schemas = {
            number: file.add_schema(schema.name, schema.encoding, schema.data)
            for number, schema in scan.schemas.items()
        }
        channels = {
            number: file.add_channel(
                own.topic, own.message_encoding, schemas.get(own.schema_id, 0), own.metadata
            )
            for number, own in scan.channels.items()
        }
        for attachment in scan.attachments:
            file.add_attachment(attachment)
        for record in scan.metadata:
            if record.name != _ROSBAG2:
                file.add_metadata(record.name, record.metadata)
        for block in scan.blocks:
            for message in scan.messages(block):
                file.write(channels[message.channel], *message[1:])
        text = contents.metadata.text()
        file.finish({_ROSBAG2: {"serialized_metadata": text}} if scan.profile == "ros2" else {})
    except BaseException:
        file.abandon()
        raise
