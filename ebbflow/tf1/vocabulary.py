"""`tf.contrib.learn.preprocessing`: words, bytes and categories as numbers, on the host, before there was tf.data.

Knows NumPy and files only.
"""

from __future__ import annotations

import math
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ebbflow.core.typing import TensorLike
from ebbflow.platform import files

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of each text."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class CategoricalVocabulary:
    """Numbers for categories, in the order in which they were met; 0 is for what is not known."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping: list[Any] = [unknown_token] if support_reverse else []
        self._freq: dict[Any, int] = defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Take no new categories from now on (or again)."""
        self._freeze = freeze

    def get(self, category: str) -> int:
        """Return the number of a category, a new one where it is new and there may be new ones."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Note that a category was met."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep what was met more than `min_frequency` times (and at most `max_frequency`), the most frequent first."""
        kept = sorted(sorted(self._freq.items(), key=lambda x: (isinstance(x[0], str), x[0])), key=lambda x: -x[1])
        kept = [(c, n) for c, n in kept if n > min_frequency and (max_frequency <= 0 or n < max_frequency)]
        self._mapping = {self._unknown_token: 0, **{c: i for i, (c, _) in enumerate(kept, 1)}}
        if self._support_reverse:
            self._reverse_mapping = list(self._mapping)
        self._freq = defaultdict(int, kept)

    def reverse(self, class_id: int) -> str:
        """Return the category of a number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class CategoricalProcessor:
    """Rows of categories as rows of their numbers, a vocabulary for each column (or one for all).

    >>> rows = [["a", "x"], ["b", "x"], ["a", float("nan")]]
    >>> [row.tolist() for row in CategoricalProcessor().fit_transform(rows)]
    [[1, 1], [2, 1], [1, 0]]
    """

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Take no new categories from now on (or again)."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: object = None) -> CategoricalProcessor:
        """Learn the categories of rows; return itself."""
        for row in _rows(x):
            if self.vocabularies_ is None:
                one = CategoricalVocabulary()
                self.vocabularies_ = [one if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=True):
                if not _is_nothing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable[Any], unused_y: object = None) -> Iterator[np.ndarray]:
        """Learn the categories of rows, and give their numbers."""
        x = list(_rows(x))
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Give the numbers of the categories of each row, 0 for what is not known or not there."""
        self.freeze()
        for row in _rows(x):
            pairs = zip(self.vocabularies_, row, strict=True)
            yield np.array([0 if _is_nothing(v) else vocabulary.get(v) for vocabulary, v in pairs], np.int64)


def _rows(x: Any) -> Iterable[Any]:
    """Return the rows of lists, arrays and frames."""
    return x.to_numpy() if hasattr(x, "to_numpy") else x


def _is_nothing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


class VocabularyProcessor:
    """Texts as rows of the numbers of their words, cut and filled with 0 to one length.

    >>> words = VocabularyProcessor(3)
    >>> [row.tolist() for row in words.fit_transform(["a b", "b c d e"])]
    [[1, 2, 0], [2, 3, 4]]
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[Any]] | None = None,
    ):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> VocabularyProcessor:
        """Learn the words of texts; return itself."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: object = None) -> Iterator[np.ndarray]:
        """Learn the words of texts, and yield their rows."""
        texts = list(raw_documents)
        self.fit(texts)
        return self.transform(texts)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """Yield the row of each text."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens):
                if i >= self.max_document_length:
                    break
                row[i] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield the words of each row, joined by spaces."""
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(number)) for number in row)

    def save(self, filename: str) -> None:
        """Write this to a file."""
        with files.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> Any:
        """Return what `save` wrote. The file may run code when it is read: open only your own."""
        with files.GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Texts as rows of their bytes, cut and filled with 0 to one length."""

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: TensorLike) -> ByteProcessor:
        """Learn nothing; return itself."""
        return self

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yield the row of each text."""
        for text in x:
            data = (text.encode() if isinstance(text, str) else bytes(text))[: self.max_document_length]
            row = np.zeros(self.max_document_length, np.uint8)
            row[: len(data)] = np.frombuffer(data, np.uint8)
            yield row

    fit_transform = transform

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """Yield the text of each row."""
        for row in x:
            yield bytes(bytearray(int(b) for b in row if b)).decode("utf-8", "replace")
