"""Ports that nobody has."""

from ebbflow.cluster.ports import free_ports


def test_ports_differ():
    assert len(set(free_ports(20))) == 20
