"""Profiles, begun and ended as TensorFlow 2 and as 1.15 did."""

import gzip
import json

import pytest

from ebbflow import messages
from ebbflow.summary import profiler


def spans(folder):
    (path,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    return [event["name"] for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]]


def test_a_profile_is_saved_where_its_result_is_wanted(tmp_path):
    with pytest.raises(profiler.ProfilerNotRunningError, match=r"Cannot stop profiling. No profiler is running."):
        profiler.stop_v1()
    profiler.start_v1()
    with pytest.raises(profiler.ProfilerAlreadyRunningError, match=r"Another profiler is running."):
        profiler.start_v1()
    with profiler.Trace("step"):
        pass
    profiler.save_result(str(tmp_path), profiler.stop_v1())
    assert spans(tmp_path) == ["step"]


@pytest.mark.parametrize("kind", [profiler.Profile, profiler.Profiler])
def test_a_block_is_profiled(kind, tmp_path):
    with kind(str(tmp_path)), profiler.Trace("inside"):
        pass
    assert spans(tmp_path) == ["inside"]


def test_planes_name_the_spans_and_their_arguments(tmp_path):
    with profiler.Profile(str(tmp_path)):
        for step in (1, 2):
            with profiler.Trace("train", step_num=step):
                pass
    (path,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    (plane,) = messages.parse(messages.message("tensorflow.profiler.XSpace"), path.read_bytes()).planes
    (line,) = plane.lines
    told = [(plane.event_metadata[e.metadata_id].name, e.stats[0].str_value) for e in line.events]
    assert (plane.name, told) == ("/host:CPU", [("train", "1"), ("train", "2")])
    assert plane.stat_metadata[line.events[0].stats[0].metadata_id].name == "step_num"
