"""Machine code apart from what it computes: one text in every process, one code for like regions, code that is kept."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import kernel as kernels
from ebbflow.engines.native import library, object_files
from ebbflow.engines.native.kernel import Kernel
from tests.engines.native.regions import array, region, same

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def printed_by(code, **environment):
    """Return the words that a process prints."""
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


# Constants, a library's function, threads, and memory of its own.
TEXT = """
    import sys
    sys.path.append(".")  # behind what is installed
    import hashlib
    import numpy as np
    import ebbflow as tf
    from ebbflow.engines.native.kernel import Kernel
    from tests.engines.native.regions import region
    small, large = np.ones([3, 4], "f"), np.ones([700, 900], "f")
    def fn(x, w):
        return tf.nn.softmax(x @ w) % tf.constant([0.5, 0.1, 0.2, 0.3])
    for kernel in (Kernel(region(fn, small, np.ones([4, 4], "f"))), Kernel(region(lambda x: tf.nn.softmax(x), large))):
        assert "inttoptr" not in kernel.text
        print(hashlib.sha256(kernel.text.encode()).hexdigest())
"""


def test_the_text_is_the_same_in_every_process():
    assert printed_by(TEXT, PYTHONHASHSEED="1") == printed_by(TEXT, PYTHONHASHSEED="2")


# --- one process ------------------------------------------------------------------------------------------------------

X = array((3, 4))


def kernel_of(numbers, dims=(3, 4)):
    return Kernel(region(lambda x: tf.tanh(x) * tf.constant(numbers, tf.float32), array(dims)))


def result_of(kernel, x=X):
    out = np.zeros_like(x)
    assert kernel.call(x, out)
    return out


def test_regions_that_are_alike_share_their_code():
    one, other = kernel_of([1, 2, 3, 4]), kernel_of([1, 2, 3, 4])
    assert one.call is other.call
    same(result_of(one), result_of(other))


def test_other_constants_or_shapes_are_other_code():
    one, other, larger = kernel_of([1, 2, 3, 4]), kernel_of([1, 2, 3, 5]), kernel_of([1, 2, 3, 4], (5, 4))
    assert one.text == other.text and one.call is not other.call and one.call is not larger.call
    same(result_of(other)[:, 3] * 4, result_of(one)[:, 3] * 5, ulps=2)
    same(result_of(larger, array((5, 4))), np.tanh(array((5, 4))) * np.float32([1, 2, 3, 4]), ulps=4)


def test_code_goes_when_nobody_has_it():
    kernel = kernel_of([7, 8, 9, 10])
    before = len(kernels._calls)
    del kernel
    gc.collect()
    assert len(kernels._calls) < before


# --- the next process -------------------------------------------------------------------------------------------------

KEPT = """
    import sys
    sys.path.append(".")  # behind what is installed
    import numpy as np
    import ebbflow as tf
    from ebbflow.engines.native import library
    from ebbflow.engines.native.kernel import Kernel
    from tests.engines.native.regions import array, region
    made = []
    optimised = library._optimised
    library._optimised = lambda text: made.append(text) or optimised(text)
    x, large = array((5, 4)), array((700, 900))
    known = lambda x: tf.nn.softmax(x) % tf.constant([0.5, 0.1, 0.2, 0.3])
    for fn, x in ((known, x), (lambda x: tf.nn.softmax(x) + tf.reduce_sum(x, 0), large)):
        out = np.zeros_like(x)
        assert Kernel(region(fn, x)).call(x, out)
        print(float(out.sum()))
    print(len(made))
"""


def test_code_is_kept_for_the_next_process(tmp_path):
    first = printed_by(KEPT, EBBFLOW_CACHE=str(tmp_path))
    again = printed_by(KEPT, EBBFLOW_CACHE=str(tmp_path))
    assert first[:-1] == again[:-1] and (first[-1], again[-1]) == ("2", "0")
    assert [f.stat().st_mode & 0o077 for f in (tmp_path / "native").iterdir()] == [0, 0]


@pytest.fixture
def place(monkeypatch, tmp_path):
    """Where code is kept during a test."""
    monkeypatch.setenv("EBBFLOW_CACHE", str(tmp_path))
    return tmp_path / "native"


@pytest.fixture
def optimised(monkeypatch):
    """The texts that LLVM was given."""
    texts, before = [], library._optimised
    monkeypatch.setattr(library, "_optimised", lambda text: texts.append(text) or before(text))
    return texts


SPOILT = {
    "empty": lambda data: b"",
    "short": lambda data: data[:-1],
    "its head only": lambda data: data[:52],
    "long": lambda data: data + b"x",
    "one bit": lambda data: data[:300] + bytes([data[300] ^ 1]) + data[301:],
    "not ours": lambda data: b"\x7fELF" + data,
    "code alone": lambda data: data[52:],
    "nothing": lambda data: None,
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_spoilt_is_made_again(how, place, optimised):
    wanted = result_of(kernel_of([1, 2, 3, 6]))
    (file,) = place.iterdir()
    good = file.read_bytes()
    spoilt = SPOILT[how](good)
    file.unlink()
    if spoilt is None:
        file.mkdir()
    else:
        file.write_bytes(spoilt)
    gc.collect()
    same(result_of(kernel_of([1, 2, 3, 6])), wanted)
    assert len(optimised) == 2
    assert file.is_dir() or file.read_bytes() == good
    assert list(place.iterdir()) == [file]


def test_what_belongs_to_another_name_is_not_taken(place):
    object_files.keep("one", b"code")
    (place / "one").rename(place / "other")
    assert object_files.recall("other") is None


def test_the_name_tells_the_maker_too(monkeypatch):
    before = library._name("text")
    assert before == library._name("text") != library._name("text ")
    monkeypatch.setattr(library, "_maker", lambda: "another processor")
    assert library._name("text") != before


def test_nothing_is_kept_where_that_is_not_wanted(monkeypatch, optimised, tmp_path):
    monkeypatch.setenv("EBBFLOW_CACHE", "")
    for _ in range(2):
        result_of(kernel_of([1, 2, 3, 7]))
        gc.collect()
    assert len(optimised) == 2
    object_files.keep("one", b"code")
    assert object_files.recall("one") is None


def test_what_is_kept_is_bounded(monkeypatch, place):
    monkeypatch.setattr(object_files, "MOST_BYTES", 1000)
    monkeypatch.setattr(object_files, "_unwatched", 0)
    for i in range(50):
        object_files.keep(str(i), bytes(100))
        if i < 49:
            os.utime(place / str(i), (i, i))
    assert sum(f.stat().st_size for f in place.iterdir()) < 1000 + 2 * 152
    assert object_files.recall("49") == bytes(100) and object_files.recall("0") is None


def test_many_write_the_same(place):
    def work():
        for i in range(50):
            object_files.keep(str(i % 3), bytes([i % 3]) * 10_000)
            found.append(object_files.recall(str(i % 3)) == bytes([i % 3]) * 10_000)

    found: list[bool] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200 and all(found)
