"""`tf.gfile`, `tf.io.gfile` and `file_io`: local files, with `tf.errors` for failures."""

import os
import pathlib
from typing import ClassVar

import pytest

import ebbflow as tf
from ebbflow.core import errors
from ebbflow.platform import file_systems, files, first_files
from ebbflow.platform.files import GFile


def test_text_and_bytes(tmp_path):
    path = str(tmp_path / "a.txt")
    with GFile(path, "w") as file:
        file.write("héllo\n")
        file.write(b"b\n")
        assert file.tell() == 9
    with GFile(path) as file:
        assert (file.size(), file.readline(), file.tell(), file.readlines(), file.read()) == (
            9,
            "héllo\n",
            7,
            ["b\n"],
            "",
        )
        file.seek(1)
        assert file.read(2) == "é"
        file.seek(-2, 2)
        assert list(file) == ["b\n"]
    with GFile(path, "rb") as file:
        assert file.read() == "héllo\nb\n".encode()
    with GFile(path, "a") as file:
        file.write("c")
    assert files.read_file_to_string(path) == "héllo\nb\nc"
    assert files.read_file_to_string(path, binary_mode=True).endswith(b"c")


def test_a_file_is_opened_when_used(tmp_path):
    lazy = GFile(str(tmp_path / "later"))
    with pytest.raises(errors.NotFoundError, match="later; No such file or directory"):
        lazy.read()
    GFile(str(tmp_path / "made"), "w").close()
    assert files.exists(tmp_path / "made") and files.stat(tmp_path / "made").length == 0


@pytest.mark.parametrize(
    "mode, use, error, says",
    [
        ("r", lambda f: f.write("x"), errors.PermissionDeniedError, "File isn't open for writing"),
        ("w", lambda f: f.read(), errors.PermissionDeniedError, "File isn't open for reading"),
        ("r", lambda f: f.seek(0, 5), errors.InvalidArgumentError, "Invalid whence argument: 5"),
        ("r", lambda f: f.seek(), TypeError, "offset argument required"),
    ],
)
def test_refusals(tmp_path, mode, use, error, says):
    path = tmp_path / "f"
    path.write_text("abc")
    with pytest.raises(error, match=says):
        use(GFile(path, mode))


def test_modes_that_are_none():
    with pytest.raises(errors.InvalidArgumentError, match="mode is not 'r' or 'w'"):
        GFile("f", "x")


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda d: files.listdir(d / "no"), errors.NotFoundError),
        (lambda d: files.remove(d / "no"), errors.NotFoundError),
        (lambda d: files.remove(d), errors.FailedPreconditionError),
        (lambda d: files.rmtree(d / "no"), errors.NotFoundError),
        (lambda d: files.stat(d / "no"), errors.NotFoundError),
        (lambda d: files.copy(d / "no", d / "x"), errors.NotFoundError),
        (lambda d: files.copy(d / "a", d / "b"), errors.AlreadyExistsError),
        (lambda d: files.rename(d / "a", d / "b"), errors.AlreadyExistsError),
        (lambda d: files.mkdir(d / "no" / "deeper"), errors.NotFoundError),
        (lambda d: GFile(d).read(), errors.FailedPreconditionError),
        (lambda d: GFile(d / "no" / "x", "w").write("x"), errors.NotFoundError),
        (lambda d: files.exists("gs://bucket/x"), errors.UnimplementedError),
    ],
)
def test_failures_are_tf_errors(tmp_path, call, error):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    with pytest.raises(error) as caught:
        call(tmp_path)
    assert isinstance(caught.value, errors.OpError)


def test_directories(tmp_path):
    files.makedirs(str(tmp_path / "x" / "y"))
    files.makedirs(str(tmp_path / "x" / "y"))
    files.mkdir(tmp_path / "x")
    files.write_string_to_file(str(tmp_path / "x" / "f"), "1")
    assert files.isdir(tmp_path / "x") and not files.isdir(tmp_path / "x" / "f")
    assert files.listdir(tmp_path / "x") == ["f", "y"]
    assert files.stat(tmp_path / "x").is_directory and files.stat(tmp_path / "x" / "f").length == 1
    down = list(files.walk(tmp_path / "x"))
    assert down == [(str(tmp_path / "x"), ["y"], ["f"]), (str(tmp_path / "x" / "y"), [], [])]
    assert list(first_files.Walk(str(tmp_path / "x"), False)) == down[::-1]
    files.rmtree(tmp_path / "x")
    assert not files.exists(tmp_path / "x")


def test_walking_nowhere(tmp_path):
    seen = []
    assert list(files.walk(tmp_path / "no", onerror=seen.append)) == []
    assert isinstance(seen[0], errors.NotFoundError)


@pytest.mark.parametrize(
    "pattern, found",
    [
        ("*.txt", [".hidden.txt", "a.txt", "b.txt"]),
        ("[ab].txt", ["a.txt", "b.txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        ("*/*.txt", ["d/c.txt"]),
        ("d", ["d"]),
        ("none*", []),
        ("none", []),
        ("none/*", []),
    ],
)
def test_glob(tmp_path, monkeypatch, pattern, found):
    (tmp_path / "d").mkdir()
    for name in ("a.txt", "b.txt", "c.csv", ".hidden.txt", "d/c.txt"):
        (tmp_path / name).write_text("")
    assert files.glob(str(tmp_path / pattern)) == [str(tmp_path / name) for name in found]
    monkeypatch.chdir(tmp_path)
    assert files.glob([pattern]) == found


def test_copy_move_compare(tmp_path):
    a, b, c = (str(tmp_path / name) for name in "abc")
    files.write_string_to_file(a, "same")
    files.copy(a, b)
    assert files.filecmp(a, b) and files.file_crc32(a) == files.file_crc32(b)
    files.write_string_to_file(b, "diff")
    assert not files.filecmp(a, b)
    files.copy(a, b, overwrite=True)
    files.rename(b, c)
    assert not files.exists(b) and files.read_file_to_string(c) == "same"
    files.atomic_write_string_to_file(c, "new")
    assert files.read_file_to_string(c) == "new"
    with pytest.raises(errors.AlreadyExistsError):
        files.atomic_write_string_to_file(c, "newer", overwrite=False)
    assert sorted(os.listdir(tmp_path)) == ["a", "c"]


def test_paths_of_every_kind(tmp_path):
    (tmp_path / "f").write_text("1")
    for path in (str(tmp_path / "f"), os.fsencode(tmp_path / "f"), tmp_path / "f", f"file://{tmp_path}/f"):
        assert files.exists(path) and GFile(path).read() == "1"


def test_the_words_of_the_first_era(tmp_path):
    a, b = str(tmp_path / "d" / "a"), str(tmp_path / "d" / "b")
    first_files.MakeDirs(dirname=str(tmp_path / "d"))
    files.write_string_to_file(a, "1")
    first_files.Copy(oldpath=a, newpath=b)
    assert first_files.Exists(filename=b) and first_files.Stat(filename=b).length == 1
    first_files.Rename(oldname=b, newname=a, overwrite=True)
    assert first_files.ListDirectory(dirname=str(tmp_path / "d")) == ["a"]
    assert first_files.Glob(filename=str(tmp_path / "*")) == [str(tmp_path / "d")]
    first_files.Remove(filename=a)
    first_files.DeleteRecursively(dirname=str(tmp_path / "d"))
    assert not first_files.IsDirectory(dirname=str(tmp_path / "d"))


def test_closing_twice_leaves_what_was_written(tmp_path):
    file = GFile(str(tmp_path / "f"), "w")
    file.write("x")
    file.close()
    file.close()
    assert (tmp_path / "f").read_text() == "x"


def test_reading_and_writing_have_places_of_their_own(tmp_path):
    path = str(tmp_path / "both")
    with GFile(path, "r+") as file:  # makes the file
        file.write("one\ntwo\n")
    assert file.readline() == "one\n"
    assert file.tell() == 4
    file.close()
    with GFile(path, "w+") as file:
        file.write("three")
        assert file.read() == "three"
        file.write(" four")
        assert file.read() == " four"
    with GFile(path, "a+") as file:
        file.write(" five")
        assert file.read() == "three four five"
    assert GFile(path).read() == "three four five"


def test_text_is_encoded_as_asked(tmp_path):
    path = str(tmp_path / "text")
    with files.GFile(path, "w", encoding="cp932") as file:
        file.write("今日")
    assert pathlib.Path(path).read_text("cp932") == files.GFile(path, encoding="cp932").read() == "今日"
    with pytest.raises(TypeError, match="one of them is enough"):
        files.GFile(path).seek(offset=0, position=0)


@pytest.mark.parametrize("root", ["memory://", "ram://"])
def test_files_in_memory(root):
    tf.io.write_file(f"{root}folder/a.txt", "one")
    assert tf.io.read_file(f"{root}folder/a.txt") == b"one"
    assert tf.io.gfile.glob(f"{root}folder/*.txt") == [f"{root}folder/a.txt"]
    assert tf.io.gfile.listdir(f"{root}folder") == ["a.txt"]
    tf.io.gfile.rmtree(f"{root}folder")
    assert not tf.io.gfile.exists(f"{root}folder/a.txt")


@pytest.fixture
def store():
    """A store whose directories are parts of names, and which takes what is appended for a new file."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Store(MemoryFileSystem):
        protocol = ("store",)
        store: ClassVar[dict] = {}
        pseudo_dirs: ClassVar[list] = [""]

        def mkdir(self, path, create_parents=True, **kwargs):
            pass

        makedirs = mkdir

        def open(self, path, mode="rb", **kwargs):
            return super().open(path, mode.replace("a", "w"), **kwargs)

        @classmethod
        def _strip_protocol(cls, path):
            return MemoryFileSystem._strip_protocol(str(path).removeprefix("store:/"))

    fsspec.register_implementation("store", Store, clobber=True)
    yield "store://bucket"
    Store.store.clear()
    file_systems._remote_system.cache_clear()


def test_a_store_of_objects(store):
    files.makedirs(f"{store}/a/b")
    assert files.isdir(f"{store}/a") and files.exists(f"{store}/a/b") and files.listdir(store) == ["a"]
    assert files.listdir(f"{store}/a/b") == [] and files.stat(f"{store}/a/b").is_directory
    with files.GFile(f"{store}/a/b/text", "w+") as file:
        file.write("one")
        assert (file.read(), file.size()) == ("one", 3)
        file.write(" two")
    with files.GFile(f"{store}/a/b/text", "a") as file:
        file.write(" three")
        assert file.tell() == 13
    files.rename(f"{store}/a", f"{store}/c")
    assert not files.exists(f"{store}/a")
    assert files.read_bytes(f"{store}/c/b/text") == b"one two three"
    assert [path for path, _, _ in files.walk(store)] == [store, f"{store}/c", f"{store}/c/b"]
    for lost in (files.remove, files.stat, files.read_bytes, files.listdir, files.rmtree):
        with pytest.raises(errors.NotFoundError, match="nothing"):
            lost(f"{store}/nothing")
    files.rmtree(f"{store}/c")
    assert files.listdir(store) == []


def test_datasets_and_summaries_in_a_store(store):
    numbers = tf.data.Dataset.range(5)
    numbers.save(f"{store}/saved")
    assert list(tf.data.Dataset.load(f"{store}/saved").as_numpy_iterator()) == [0, 1, 2, 3, 4]
    for kept in (numbers.cache(f"{store}/cache"), numbers.snapshot(f"{store}/snapshot")):
        assert [list(kept.as_numpy_iterator()) for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2
    writer = tf.summary.create_file_writer(f"{store}/logs")
    with writer.as_default():
        tf.summary.scalar("loss", 1.0, step=0)
    writer.flush()  # a reader sees it while the file is still written
    (path,) = files.glob(f"{store}/logs/*")
    assert [len(event.summary.value) for event in tf.compat.v1.train.summary_iterator(path)] == [0, 1]
    writer.close()
    assert not os.path.exists("store:")
