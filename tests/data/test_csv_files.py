"""CSV files as datasets: quotes, empty lines and characters of several bytes as TensorFlow reads them."""

import pytest

import ebbflow as tf


def rows(path, text, count, **options):
    path.write_bytes(text)
    return tf.data.experimental.CsvDataset(str(path), [[""]] * count, **options)


def plain(dataset):
    return [tuple(field.numpy() for field in row) for row in dataset]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_quotes_may_hold_delimiters_ends_of_lines_and_quotes(tmp_path, end):
    text = b'1,"a,b"' + end + b'"2\n3","say ""x"""' + end + b","
    assert plain(rows(tmp_path / "f", text, 2)) == [(b"1", b"a,b"), (b"2\n3", b'say "x"'), (b"", b"")]


def test_an_empty_line_is_an_empty_field(tmp_path):
    (tmp_path / "f").write_bytes(b"0\n\n2\n")
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "f"), [["none"]])
    assert plain(dataset) == [(b"0",), (b"none",), (b"2",)]


def test_bytes_that_other_codes_take_for_ends_of_lines_are_letters(tmp_path):
    text = "Å,\x0b\x0c\x1c\n…,é".encode()
    assert plain(rows(tmp_path / "f", text, 2)) == [("Å".encode(), b"\x0b\x0c\x1c"), ("…".encode(), "é".encode())]


WRONG = {
    b'1,2"3,4': "Unquoted fields cannot have quotes inside",
    b'"a"b","c","d"': "Quote inside a string has to be escaped by another quote",
    b'a,b,"c': "Reached end of file without closing quoted field in record",
    b"1,2": "Expect 3 fields but have 2 in record",
    b"1,2,3,4": "Expect 3 fields but have more in record",
}


@pytest.mark.parametrize("text", WRONG)
def test_records_that_are_refused(tmp_path, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=WRONG[text]):
        plain(rows(tmp_path / "f", text, 3))


def test_what_follows_a_refused_record_is_read(tmp_path):
    text = b'1,2"3,4\n1,"2"3",4",5,5\nonly\ne,f,g\n'
    dataset = rows(tmp_path / "f", text, 3).apply(tf.data.experimental.ignore_errors())
    assert plain(dataset) == [(b"e", b"f", b"g")]


def test_columns_beyond_the_last_are_missing(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1 in record"):
        plain(rows(tmp_path / "f", b"1,2,3,4", 2, select_cols=[3, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size should be positive"):
        plain(rows(tmp_path / "f", b"1", 1, buffer_size=0))


def test_types_are_not_guessed_from_rows_of_another_width(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="has 2 fields, expected 3"):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 1, column_names=["a", "b", "c"])
