"""A cluster in one process: a session at one of its workers, variables on its parameter servers."""

import ebbflow as tf


def test_a_session_of_a_worker_reaches_the_parameter_servers():
    workers, servers = tf.test.create_local_cluster(num_workers=2, num_ps=2)
    assert len(workers) == len(servers) == 2
    with tf.Graph().as_default():
        total = 0.0
        for task in range(2):
            with tf.device(f"/job:ps/task:{task}"):
                total += tf.compat.v1.get_variable(f"v{task}", initializer=float(task + 1))
        with tf.compat.v1.Session(workers[1].target) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert session.run(total) == 3.0
