"""`tensorflow.examples.tutorials.mnist.input_data`: the MNIST files, read from a directory in the tutorials' form.

Knows the IDX format, NumPy and `core.dtypes`. Nothing is downloaded: where files are missing, the error says which and
where to put them.
"""

from __future__ import annotations

import gzip
import os
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.typing import AnyTensor, Array

if TYPE_CHECKING:
    from ebbflow.core.typing import DTypeLike

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
SOURCE_URL = DEFAULT_SOURCE_URL

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
IMAGES, LABELS = 2051, 2049
"""The numbers that IDX files of images and of labels begin with."""

SMALLEST_BLOCK = 1 << 20


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: Any
    validation: Any
    test: Any


def _read_idx(file: Any, magic: int, dims: int) -> np.ndarray:
    name = getattr(file, "name", file)
    with file if hasattr(file, "read") else open(file, "rb") as raw:
        head = raw.read(2)
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if head == b"\x1f\x8b" else raw
        header = stream.read(4 * (dims + 1))
        if len(header) < 4 * (dims + 1):
            raise ValueError(f"MNIST file {name} ends inside its header")
        found, *shape = struct.unpack(f">{dims + 1}I", header)
        if found != magic:
            kind = "image" if magic == IMAGES else "label"
            raise ValueError(f"Invalid magic number {found} in MNIST {kind} file: {name}")
        return _pixels(stream, shape, name)


def _pixels(stream: Any, shape: list[int], name: Any) -> np.ndarray:
    wanted = int(np.prod([int(size) for size in shape], dtype=object))
    blocks, have = [], 0
    while have < wanted:  # block by block: the header may promise more than there is, or than fits in memory
        block = stream.read(min(SMALLEST_BLOCK, wanted - have))
        if not block:
            raise ValueError(f"MNIST file {name} has {have} of the {wanted} bytes that its header promises")
        blocks.append(block)
        have += len(block)
    return np.frombuffer(b"".join(blocks), np.uint8).reshape(shape)


def extract_images(f: Any) -> np.ndarray:
    """Return the images of an IDX file, packed with gzip or not: uint8 [count, rows, columns, 1]."""
    return _read_idx(f, IMAGES, 3)[..., np.newaxis]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """Return the labels of an IDX file: uint8 [count], or one row of zeros and a one for each."""
    labels = _read_idx(f, LABELS, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Return a row of zeros and a one for each label.

    >>> dense_to_one_hot(np.array([1, 0]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return np.eye(num_classes)[labels_dense.ravel()]


class DataSet:
    """Images and labels, handed out batch after batch, shuffled anew each epoch."""

    def __init__(
        self,
        images: Array,
        labels: AnyTensor,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: DTypeLike = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        kind = dtypes.as_dtype(dtype).base_dtype
        if kind not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._random = np.random.RandomState(seed)
        self._fake, self.one_hot = fake_data, one_hot
        self._epochs_completed = self._index_in_epoch = 0
        if fake_data:
            self._num_examples = 10000
            self._images, self._labels = images, labels
            return
        if len(images) != len(labels):
            raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
        self._num_examples = len(images)
        if reshape:
            images = images.reshape(len(images), int(np.prod(images.shape[1:])))
        if kind is dtypes.float32:
            images = images.astype(np.float32) * np.float32(1 / 255)
        self._images, self._labels = images, labels

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: self._num_examples)
    epochs_completed = property(lambda self: self._epochs_completed)

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """Return the next images and labels; at the end of an epoch the next one begins within the batch."""
        if fake_data or self._fake:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0:
            self._shuffle(shuffle)
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[start : start + batch_size]
        images, labels = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        self._shuffle(shuffle)
        self._index_in_epoch = more = batch_size - len(images)
        return np.concatenate((images, self._images[:more])), np.concatenate((labels, self._labels[:more]))

    def _shuffle(self, wanted: bool) -> None:
        if wanted:
            order = self._random.permutation(self._num_examples)
            self._images, self._labels = self._images[order], self._labels[order]


def _find(train_dir: str, name: str) -> str | None:
    for candidate in (name, name.removesuffix(".gz"), name.removesuffix(".gz").replace("-idx", ".idx")):
        path = os.path.join(train_dir, candidate)
        if os.path.isfile(path):
            return path
    return None


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: DTypeLike = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Return the MNIST digits found in a directory, or made-up ones for `fake_data`."""
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        empty = np.zeros((0, 784), np.float32), np.zeros((0,), np.uint8)
        parts = (DataSet(*empty, fake_data=True, one_hot=one_hot, **options) for _ in range(3))
        return Datasets(*parts)
    paths = [_find(str(train_dir), name) for name in FILES]
    missing = [name for name, path in zip(FILES, paths, strict=True) if path is None]
    if missing:
        raise FileNotFoundError(
            f"no {', '.join(missing)} in {os.path.abspath(train_dir)}: Ebbflow downloads nothing; put the four MNIST "
            f"files ({', '.join(FILES)}, packed or not) there, or pass fake_data=True"
        )
    images, labels = extract_images(paths[0]), extract_labels(paths[1], one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    first = slice(None, validation_size), slice(validation_size, None)
    validation, train = (DataSet(images[part], labels[part], one_hot=one_hot, **options) for part in first)
    test = DataSet(extract_images(paths[2]), extract_labels(paths[3], one_hot), one_hot=one_hot, **options)
    return Datasets(train, validation, test)


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """Return the MNIST digits found in a directory."""
    return read_data_sets(train_dir)
