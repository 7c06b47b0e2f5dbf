"""What is read of files that clients name, and what is not."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import (
    ALL_FILES,
    FileAccess,
    SizeLimit,
    is_input,
    open_file,
    read_file,
    recorded_inputs,
)
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.uri import resolve


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "secret.yaml"
    file.write_text("secret")
    return file


@pytest.fixture
def access(inside: Path) -> FileAccess:
    return FileAccess(lambda: [inside], "; a remedy")


def problem(path: Path, access: FileAccess | None = None) -> str:
    """Return why a file is not read."""
    with (access or ALL_FILES).for_client(), pytest.raises(UserInputError) as caught:
        read_file(path, "mesh")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_in_an_allowed_folder_is_read(inside, access):
    (inside / "a").write_text("content")
    with access.for_client():
        assert read_file(inside / "a") == b"content"
        assert read_file(inside / "a", first=3) == b"con"
        assert read_text(inside / "a") == "content"


def test_a_client_names_no_file_outside_and_learns_nothing_about_it(inside, outside, access):
    answers = [problem(it, access) for it in (outside, outside.with_name("none"), outside.parent)]
    named = (outside, outside.with_name("none"), outside.parent)
    assert answers == [
        f"'{it}' is not in a folder of which clients may name files: {inside}; a remedy"
        for it in named
    ]


@pytest.mark.parametrize("depth", [1, 2])
def test_links_out_of_the_folder_are_not_followed(inside, outside, access, depth):
    link = inside / "link"
    link.symlink_to(outside)
    for number in range(depth - 1):
        link, before = inside / f"link{number}", link
        link.symlink_to(before)
    assert "is not in a folder" in problem(link, access)
    with access.for_client(), pytest.raises(UserInputError, match="is not in a folder"):
        resolve(f"file://{link}", inside)


def test_a_folder_whose_name_begins_as_an_allowed_one_is_outside(inside, access):
    other = inside.with_name("inside_too")
    other.mkdir()
    (other / "a").touch()
    assert "is not in a folder" in problem(other / "a", access)


def test_links_inside_the_folder_are_followed(inside, access):
    (inside / "a").write_text("content")
    (inside / "link").symlink_to("a")
    with access.for_client():
        assert read_file(inside / "link") == b"content"


def test_files_of_the_start_remain_allowed(outside, access):
    with access.at_start():
        read_file(outside)
    with access.for_client():
        assert read_file(outside) == b"secret"


def test_without_a_client_all_files_are_read(outside):
    assert read_file(outside) == b"secret"


def test_no_named_pipe_is_waited_for(inside):
    os.mkfifo(inside / "pipe")
    assert problem(inside / "pipe") == (
        f"mesh '{inside / 'pipe'}' is a named pipe; only regular files are read"
    )


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_no_device_is_read(device, inside):
    assert f"'{device}' is a device" in problem(Path(device))
    (inside / "link").symlink_to(device)
    assert "is a device" in problem(inside / "link")


def test_a_large_file_is_not_read(inside):
    with (inside / "large").open("wb") as file:
        file.truncate(1 << 40)  # sparse: no disk holds as much
    assert "is too large: at most 1073741824 bytes are read" in problem(inside / "large")
    assert read_file(inside / "large", first=4) == bytes(4)


def test_a_placeholder_of_git_lfs_is_named_as_such(inside):
    path = inside / "arm.stl"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n")
    for first in (None, 84):
        with pytest.raises(UserInputError, match=r"arm\.stl' is a placeholder of Git LFS"):
            read_file(path, "mesh", first=first)


def test_a_file_whose_size_is_unknown_is_read_up_to_the_limit():
    with pytest.raises(UserInputError, match="is too large: at most 10 bytes"):
        read_file(Path("/proc/self/status"), largest=SizeLimit(10, of_client=10))


def test_a_small_file_is_read_with_little_memory(inside):
    """As under ``ulimit -v``: memory is requested for the size of the file, not for the limit."""
    small, large = inside / "small", inside / "large"
    small.write_bytes(b"<mujoco/>")
    with large.open("wb") as file:
        file.truncate(1 << 29)
    code = (
        "import os, resource, sys\n"
        "from pathlib import Path\n"
        "from mujoco_ros.model.errors import UserInputError\n"
        "from mujoco_ros.model.file_access import read_file\n"
        "pages = int(Path('/proc/self/statm').read_text().split()[0])\n"
        "limit = pages * os.sysconf('SC_PAGE_SIZE') + (1 << 28)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "print(read_file(Path(sys.argv[1])))\n"
        "try:\n"
        "    read_file(Path(sys.argv[2]))\n"
        "except UserInputError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", code, small, large]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    content, error = subprocess.check_output(command, env=environment, text=True).splitlines()
    assert content == "b'<mujoco/>'"
    assert "its 536870912 bytes do not fit into the memory" in error


def test_a_file_that_grows_while_it_is_read_is_read_up_to_the_limit(inside, monkeypatch):
    growing, fstat = inside / "growing", os.fstat
    growing.write_bytes(b"1" * 300_000)

    def before(descriptor: int) -> os.stat_result:
        now = fstat(descriptor)
        return os.stat_result((*now[:6], min(now.st_size, 10), *now[7:10]))

    monkeypatch.setattr(os, "fstat", before)
    assert len(read_file(growing)) == 300_000
    limit = SizeLimit(200_000, of_client=200_000)
    with pytest.raises(UserInputError, match="is too large: at most 200000 bytes are read"):
        read_file(growing, largest=limit)
    assert read_file(growing, largest=limit, first=250_000) == b"1" * 250_000


def test_names_that_are_no_paths_are_errors(inside):
    assert "embedded null byte" in problem(Path("a\0b"))
    assert "File name too long" in problem(inside / ("a" * 300))


def test_a_file_that_is_exchanged_after_the_check_is_not_read(inside, outside, access):
    """Another thread exchanges a file and a link out of the folder, as fast as it can."""
    target, new, ended = inside / "a", inside / "new", threading.Event()
    target.write_text("content")

    def exchange() -> None:
        while not ended.is_set():
            new.symlink_to(outside)
            os.replace(new, target)
            new.write_text("content")
            os.replace(new, target)

    thread = threading.Thread(target=exchange)
    thread.start()
    results = set()
    try:
        for _ in range(3000):
            with access.for_client():
                try:
                    results.add(read_file(target))
                except UserInputError:
                    results.add(b"rejected")
    finally:
        ended.set()
        thread.join()
    assert results == {b"content", b"rejected"}


def test_descriptors_are_closed(inside, access):
    (inside / "a").touch()
    os.mkfifo(inside / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("a", "pipe", "none"):
        with access.for_client():
            try:
                os.close(open_file(inside / name))
            except UserInputError:
                continue
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_input_is_found_by_every_name(inside, outside):
    (inside / "link").symlink_to(outside)
    (inside / "hard").hardlink_to(outside)
    (inside / "other").write_text("secret")
    names = [outside, inside / "link", inside / "hard", inside / ".." / outside.name]
    with recorded_inputs():
        assert not any(map(is_input, names))
        read_file(inside / "link")
        assert all(map(is_input, names))
        assert not is_input(inside / "other")
        assert not is_input(inside / "missing")
    assert not any(map(is_input, names))
