"""Files appear whole or not at all, and replace no input."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from full_disk import full_disk

from mujoco_ros.model import output_files
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import read_file, recorded_inputs
from mujoco_ros.model.output_files import (
    OutputFile,
    check_output,
    complete_file,
    complete_folder,
    create_file,
    output_file,
    write_whole,
)


@pytest.fixture(params=["without a name", "with a name"])
def inside(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of a file system that has files without a name, or that has none."""
    if request.param == "with a name":
        monkeypatch.setattr(output_files.os, "O_TMPFILE", os.O_TMPFILE | os.O_CREAT)
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "secret.yaml"
    file.write_text("secret")
    return file


def visible(folder: Path) -> list[str]:
    return [it for it in os.listdir(folder) if not it.startswith(output_files.UNFINISHED)]


def test_a_created_file_belongs_to_its_user_alone(inside):
    old = os.umask(0)
    try:
        os.close(create_file(inside / "a", "log"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((inside / "a").stat().st_mode) == 0o600


def test_no_file_is_overwritten(inside, outside):
    (inside / "link").symlink_to(outside)
    for path in (outside, inside / "link"):
        with pytest.raises(UserInputError, match="exists; it is not overwritten"):
            create_file(path, "log")
    assert outside.read_text() == "secret"


def test_files_are_created_below_the_folder_only(inside, outside):
    (inside / "out").symlink_to(outside.parent)
    for path in (outside.parent / "a", inside / ".." / "a", inside / "out" / "a"):
        with pytest.raises(UserInputError, match=r"log '.*' is not below '.*inside'"):
            create_file(path, "log", below=inside)
    assert not (outside.parent / "a").exists()


def test_the_output_folder_is_created_for_its_user_alone(inside):
    os.close(create_file(inside / "new" / "a", "log", below=inside / "new"))
    assert stat.S_IMODE((inside / "new").stat().st_mode) == 0o700


def test_a_complete_file_appears_at_the_end_for_its_user_alone(inside):
    path = inside / "new" / "film"
    with complete_file(path, "film", below=path.parent) as file:
        file.write(b"content")
        assert not visible(path.parent), "another program could read half of it"
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_remains_of_a_file_that_is_not_complete(inside):
    def write_half() -> None:
        with complete_file(inside / "film", "film") as file:
            file.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserInputError, match=r"film .* cannot be written: No space left"):
        write_half()
    assert not list(inside.iterdir())


def test_a_complete_file_replaces_none_not_even_one_that_appears_meanwhile(inside, outside):
    with pytest.raises(UserInputError, match="exists"), complete_file(outside, "film"):
        pytest.fail("the time to make the file is lost")
    path = inside / "film"

    def write_late() -> None:
        with complete_file(path, "film") as file:
            file.write(b"content")
            path.write_text("another")

    with pytest.raises(UserInputError, match="exists"):
        write_late()
    assert path.read_text() == "another"


def test_a_file_is_replaced_with_its_permissions(inside, outside):
    outside.chmod(0o640)
    write_whole(outside, "new")
    assert outside.read_text() == "new"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_the_umask(inside):
    old = os.umask(0o027)
    try:
        write_whole(inside / "report", b"text")
    finally:
        os.umask(old)
    assert stat.S_IMODE((inside / "report").stat().st_mode) == 0o640


def test_a_link_stays_and_its_file_is_replaced(inside, outside):
    link = inside / "link"
    link.symlink_to(outside)
    write_whole(link, "new")
    assert link.is_symlink()
    assert outside.read_text() == "new"


def test_the_former_content_is_complete_until_the_new_one_is(inside, outside):
    with output_file(outside) as file:
        file.write(b"new")
        file.flush()
        assert outside.read_text() == "secret"
    assert outside.read_text() == "new"


@pytest.mark.parametrize("size", [5000, 500_000])
def test_a_full_disk_keeps_the_former_file_and_is_named(inside, outside, size):
    (outside.parent / "other").write_text("")
    before = set(os.listdir(outside.parent))
    with full_disk(1000):
        with pytest.raises(UserInputError, match=r"'.*secret.yaml' cannot be written: File too"):
            write_whole(outside, b" " * size)
        with pytest.raises(OSError, match=r"File too large: '.*secret.yaml'"):
            _write(OutputFile(outside), b" " * size)
        with pytest.raises(UserInputError, match=r"film '.*' cannot be written: File too large"):
            _complete(inside / "film", b" " * size)
    assert outside.read_text() == "secret"
    assert set(os.listdir(outside.parent)) == before
    assert not os.listdir(inside)


def _write(output: OutputFile, content: bytes) -> None:
    with output:
        output.file.write(content)
        output.finish()


def _complete(path: Path, content: bytes) -> None:
    with complete_file(path, "film") as file:
        file.write(content)


def test_nothing_remains_of_a_process_that_is_killed(tmp_path, outside):
    program = f"""
import os, signal
from pathlib import Path
from mujoco_ros.model.output_files import output_file
with output_file(Path({str(outside)!r})) as file:
    file.write(b"new")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert outside.read_text() == "secret"
    assert visible(tmp_path) == ["secret.yaml"]


def test_no_input_is_replaced_by_any_name(inside, outside):
    (inside / "link").symlink_to(outside)
    (inside / "hard").hardlink_to(outside)
    with recorded_inputs():
        check_output(outside)
        read_file(outside)
        for path in (outside, inside / "link", inside / "hard"):
            with pytest.raises(UserInputError, match=r"report '.*' is not written: it is an input"):
                write_whole(path, "new", "report")
        write_whole(inside / "report", "new")
    assert outside.read_text() == "secret"
    assert (inside / "report").read_text() == "new"


def test_a_file_that_becomes_an_input_meanwhile_is_not_replaced(inside, outside):
    def read_late() -> None:
        with output_file(outside) as file:
            file.write(b"new")
            read_file(outside)

    with recorded_inputs(), pytest.raises(UserInputError, match="it is an input"):
        read_late()
    assert outside.read_text() == "secret"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "Is a directory"), ("missing/report", "No such file"), ("a" * 300, "name too long")],
)
def test_a_name_that_cannot_be_written_is_named(inside, name, reason):
    with pytest.raises(UserInputError, match=f"cannot be written: .*{reason}"):
        write_whole(inside / name, "new")
    assert not os.listdir(inside)


def test_a_file_that_must_not_be_written_is_not_replaced(inside, outside, monkeypatch):
    # The user root may write every file.
    monkeypatch.setattr(output_files.os, "access", lambda path, _mode: path != outside)
    with pytest.raises(UserInputError, match="cannot be written: Permission denied"):
        write_whole(outside, "new")


def test_devices_and_pipes_are_written_to(inside):
    write_whole(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
    pipe = inside / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    program = (
        "from pathlib import Path; from mujoco_ros.model.output_files import write_whole; "
        "write_whole(Path('/dev/stdout'), 'text')"
    )
    assert subprocess.check_output([sys.executable, "-c", program]) == b"text"


def test_a_complete_folder_appears_with_its_files_or_not_at_all(inside):
    with complete_folder(inside / "new") as folder:
        (folder / "file").write_text("")
        assert not (inside / "new").exists()
    assert os.listdir(inside) == ["new"]
    assert os.listdir(inside / "new") == ["file"]
    with pytest.raises(UserInputError, match=r"folder '.*new' exists"):
        complete_folder(inside / "new").__enter__()

    def write_half() -> None:
        with complete_folder(inside / "other") as folder:
            (folder / "file").write_text("")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserInputError, match="cannot be written: No space left"):
        write_half()
    assert os.listdir(inside) == ["new"]
