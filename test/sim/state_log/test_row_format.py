import io
import random

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.state_log.row_format import MAGIC, ROWS, SEGMENT, find_records, write_record

CONTENTS = [(SEGMENT, [b"head", b"model"]), (ROWS, [b"x" * 24]), (ROWS, [b"y" * 17]), (ROWS, [])]


def written() -> bytes:
    file = io.BytesIO()
    file.write(MAGIC)
    for kind, parts in CONTENTS:
        write_record(file, kind, parts)
    return file.getvalue()


def found(path, content: bytes) -> tuple[list[bytes], str]:
    records, problem = find_records(path, memoryview(content))
    return [content[r.offset : r.offset + r.length] for r in records], problem


def test_records_are_read_as_they_were_written(tmp_path):
    records, problem = found(tmp_path, written())
    assert records == [b"headmodel", b"x" * 24, b"y" * 17, b""]
    assert problem == ""


def test_records_begin_at_multiples_of_eight_bytes(tmp_path):
    records = find_records(tmp_path, memoryview(written()))[0]
    assert all(record.offset % 8 == 0 for record in records)


def test_a_truncated_file_has_the_complete_records(tmp_path):
    whole, content = found(tmp_path, written())[0], written()
    for end in range(len(MAGIC), len(content)):
        records, problem = found(tmp_path, content[:end])
        assert records == whole[: len(records)]
        if problem:
            assert "incomplete" in problem
    assert len(found(tmp_path, content[:-24])[0]) == 3


def test_a_corrupt_byte_is_detected(tmp_path):
    content, whole = written(), found(tmp_path, written())[0]
    for place in random.Random(0).sample(range(len(MAGIC), len(content)), 60):
        broken = bytearray(content)
        broken[place] ^= 0xFF
        records, problem = found(tmp_path, bytes(broken))
        assert records == whole[: len(records)]
        # Padding between records can have any value.
        assert problem or records == whole


def test_another_file_is_refused(tmp_path):
    with pytest.raises(UserInputError, match="is no state log"):
        find_records(tmp_path, memoryview(b"%PDF-1.7 something else"))


def test_partial_writes_are_completed():
    class Slow(io.BytesIO):
        def write(self, data) -> int:
            return super().write(bytes(data)[:5])

    file = Slow()
    write_record(file, ROWS, [b"z" * 40])
    plain = io.BytesIO()
    write_record(plain, ROWS, [b"z" * 40])
    assert file.getvalue() == plain.getvalue()
