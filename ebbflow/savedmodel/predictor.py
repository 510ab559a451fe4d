"""`tf.contrib.predictor`: a function from arrays to arrays, of a SavedModel in a session of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core.typing import Message, PathLike
from ebbflow.graph.graph import Graph
from ebbflow.runtime.session import Session
from ebbflow.savedmodel import constants, loader, reading
from ebbflow.savedmodel.signature_defs import get_signature_def_by_key

DEFAULT_TAGS = "serve"
DEFAULT_INPUTS = "input_example_tensor"


class Predictor:
    """Runs a graph: feeds by name in, results by name out."""

    def __init__(self, graph: Any, session: Any, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]):
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = dict(feed_tensors), dict(fetch_tensors)

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    @property
    def feed_tensors(self) -> dict[str, Any]:
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        return self._fetch_tensors

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def session(self) -> Any:
        return self._session

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs for these inputs."""
        unexpected = sorted(set(input_dict) - set(self._feed_tensors))
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {sorted(self._feed_tensors)}")
        feeds = {self._feed_tensors[name]: value for name, value in input_dict.items()}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


class SavedModelPredictor(Predictor):
    """A predictor of one signature of a SavedModel."""

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: str | None = None,
        signature_def: Any = None,
        input_names: Mapping[str, str] | None = None,
        output_names: Mapping[str, str] | None = None,
        tags: str | None = None,
        graph: Any = None,
        config: Any = None,
        allow: Any = None,
    ):
        _check_given(signature_def_key, signature_def, input_names, output_names)
        tags = tags or DEFAULT_TAGS
        graph = graph or Graph()
        with graph.as_default():
            session = Session(config=config, graph=graph)
            meta = loader.load(session, tags.split(","), export_dir, allow=allow)
        if input_names is None:
            if signature_def is None:
                key = signature_def_key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
                signature_def = _named(meta, key, export_dir)
            input_names = {name: info.name for name, info in signature_def.inputs.items()}
            output_names = {name: info.name for name, info in signature_def.outputs.items()}
        feeds = {name: graph.get_tensor_by_name(tensor) for name, tensor in input_names.items()}
        fetches = {name: graph.get_tensor_by_name(tensor) for name, tensor in (output_names or {}).items()}
        super().__init__(graph, session, feeds, fetches)


def _named(meta: Any, key: str, export_dir: Any) -> Any:
    try:
        return get_signature_def_by_key(meta, key)
    except ValueError:
        raise ValueError(
            f"Got signature_def_key {key!r}. Available signatures are {sorted(meta.signature_def)}. SavedModel "
            f"{export_dir}: tags {reading.get_saved_model_tag_sets(export_dir)}"
        ) from None


def _check_given(key: Any, definition: Any, inputs: Any, outputs: Any) -> None:
    by_name = inputs is not None or outputs is not None
    if (inputs is None) != (outputs is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if sum([key is not None, definition is not None, by_name]) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names)."
        )


def from_saved_model(
    export_dir: PathLike,
    signature_def_key: str | None = None,
    signature_def: Message | None = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: Message | None = None,
    allow: Iterable[str] | str | None = None,
) -> SavedModelPredictor:
    """Return a predictor of a SavedModel: of a signature, or between named tensors."""
    return SavedModelPredictor(
        export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config, allow
    )
