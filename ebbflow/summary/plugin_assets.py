"""Assets that a graph carries for TensorBoard's plugins: one object a plugin."""

from __future__ import annotations

import abc
from typing import Any

from ebbflow.graph.graph import Graph, get_default_graph

PREFIX = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """What a plugin wants written beside the summaries; `plugin_name` says whose it is."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """Return the contents of files by their names."""


def _only(kept: list[Any], name: str) -> Any:
    if len(kept) != 1:
        raise ValueError(f"Collection for {name} had {len(kept)} items, expected 1")
    return kept[0]


def get_plugin_asset(plugin_asset_cls: type[PluginAsset], graph: Graph | None = None) -> PluginAsset:
    """Return the graph's asset of a class, made the first time it is asked for."""
    graph = graph or get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    name = PREFIX + plugin_asset_cls.plugin_name
    kept = graph.get_collection(name)
    if not kept:
        made = plugin_asset_cls()
        graph.add_to_collection(name, made)
        graph.add_to_collection(PREFIX, plugin_asset_cls.plugin_name)
        return made
    found = _only(kept, name)
    if not isinstance(found, plugin_asset_cls):
        both = f"{plugin_asset_cls.__name__} and {type(found).__name__}"
        raise ValueError(f"Plugin name collision between classes {both}")
    return found


def get_all_plugin_assets(graph: Graph | None = None) -> list[PluginAsset]:
    """Return all assets of a graph."""
    graph = graph or get_default_graph()
    return [_only(graph.get_collection(PREFIX + name), name) for name in graph.get_collection(PREFIX)]
