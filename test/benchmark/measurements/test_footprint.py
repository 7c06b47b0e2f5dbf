import os

import pytest

from benchmark.measurements.footprint import part_name, parts_mb


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", "other anonymous memory"),
        ("[heap]", "heap"),
        ("[stack]", "other anonymous memory"),
        ("/dev/shm/fastrtps_1", "shared memory"),
        ("/memfd:mujoco_ros (deleted)", "shared memory"),
        ("/venv/lib/python3.11/site-packages/numpy.libs/libopenblas.so", "numpy"),
        ("/usr/lib/python3/dist-packages/cv2/cv2.so", "cv2"),
        ("/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1", "libLLVM-15"),
    ],
)
def test_a_mapping_belongs_to_a_package_a_library_or_a_kind_of_memory(path: str, part: str) -> None:
    assert part_name(path) == part


def test_the_parts_of_a_process_are_its_proportional_memory() -> None:
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        line = next(line for line in file if line.startswith("Pss:"))
    whole = int(line.split()[1]) * 1024 / 1e6
    parts = parts_mb(os.getpid())
    assert sum(parts.values()) == pytest.approx(whole, rel=0.05)
    assert parts["numpy"] > 0
