"""Records of files in every form, which is told by looking; blocks of Snappy that are damaged."""

import os

import pytest

from ebbflow.core import errors
from ebbflow.io import record_forms

RECORDS = [b"", b"a", bytes(100_000), os.urandom(70_000), b"end"]


@pytest.mark.parametrize("form", ["", "GZIP", "ZLIB", "SNAPPY"])
def test_records_are_read_in_the_form_they_have(tmp_path, form):
    path = str(tmp_path / "records")
    with record_forms.writer_of(path, form) as writer:
        for record in RECORDS:
            writer.write(record)
    assert record_forms.form_of(path) == form
    with record_forms.reader_of(path) as reader:
        assert list(reader) == RECORDS
    with record_forms.reader_of(path) as reader:
        reader.read()
        reader.reopen()
        assert [*reader] == RECORDS[1:]


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:7] + b"\xff" + data[8:],
                                    lambda data: b"\0\xff" + data[2:]], ids=["cut", "tag", "length"])  # fmt: skip
def test_damaged_blocks_are_data_loss(tmp_path, damage):
    path = tmp_path / "records"
    with record_forms.writer_of(str(path), "SNAPPY") as writer:
        writer.write(b"abc" * 99)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(errors.DataLossError, match="records"), record_forms.reader_of(str(path)) as reader:
        list(reader)
