"""`tf.test.create_local_cluster`: parameter servers and workers of a cluster, all served from this process."""

from __future__ import annotations

from ebbflow.cluster.ports import free_ports
from ebbflow.cluster.server import Server
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core.typing import Message


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Message | None = None,
    ps_config: Message | None = None,
) -> tuple[list[Server], list[Server]]:
    """Return the servers of new jobs "worker" and "ps" at free ports of this machine, started.

    >>> workers, servers = create_local_cluster(num_workers=1, num_ps=2)
    >>> len(workers), len(servers)
    (1, 2)
    """
    counts, configs = {"worker": num_workers, "ps": num_ps}, {"worker": worker_config, "ps": ps_config}
    ports = iter(free_ports(num_workers + num_ps))
    spec = ClusterSpec({job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in counts.items()})
    servers = {
        job: [Server(spec, job, i, protocol=protocol, config=configs[job], start=True) for i in range(count)]
        for job, count in counts.items()
    }
    return servers["worker"], servers["ps"]
