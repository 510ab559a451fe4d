"""Assets of plugins that a graph carries: one a class, by the plugin's name."""

import pytest

import ebbflow as tf
from ebbflow.summary import plugin_assets


class Notes(plugin_assets.PluginAsset):
    plugin_name = "notes"

    def assets(self):
        return {"a.txt": "text"}


class OtherNotes(Notes):
    pass


class Nameless(Notes):
    plugin_name = None


def test_one_a_graph():
    graph = tf.Graph()
    first = plugin_assets.get_plugin_asset(OtherNotes, graph)
    assert plugin_assets.get_plugin_asset(Notes, graph) is first
    assert plugin_assets.get_all_plugin_assets(graph) == [first]
    with graph.as_default():
        assert plugin_assets.get_all_plugin_assets() == [first]
    with pytest.raises(ValueError, match="no plugin_name"):
        plugin_assets.get_plugin_asset(Nameless, graph)
    plain = tf.Graph()
    plugin_assets.get_plugin_asset(Notes, plain)
    with pytest.raises(ValueError, match="collision"):
        plugin_assets.get_plugin_asset(OtherNotes, plain)
