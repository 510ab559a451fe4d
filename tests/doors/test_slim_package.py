"""`tf.contrib.slim` and `tf.contrib.layers` from the real `tf_slim`, in processes of their own."""

from tests.doors.test_alias import python


def test_every_row_resolves():
    assert python(
        """
        from ebbflow.api import namespace, views
        rows = {n: t for n, t in views.names_of("v1").items() if t.startswith("doors.slim_package:")}
        for target in rows.values():
            namespace.resolve(target)
        print(len(rows) > 150)
        """
    ) == ["True"]


def test_a_net_trains():
    told = python(
        """
        import numpy as np
        import ebbflow.v1 as tf

        slim = tf.contrib.slim
        x = tf.placeholder(tf.float32, [None, 8, 8, 1])
        tf.set_random_seed(1)
        decay = slim.l2_regularizer(1e-3)
        with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, weights_regularizer=decay):
            net = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope="conv")
            net = slim.flatten(slim.max_pool2d(net, [2, 2]))
        net = tf.contrib.layers.layer_norm(tf.contrib.layers.fully_connected(net, 8))
        labels = tf.cast(x[:, 0, 0, 0] > 0.5, tf.int32)
        tf.losses.sparse_softmax_cross_entropy(labels, tf.contrib.layers.linear(net, 2))
        train = slim.learning.create_train_op(tf.losses.get_total_loss(), tf.train.AdamOptimizer(0.05))
        data = np.random.RandomState(0).rand(16, 8, 8, 1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run(train, {x: data}) for _ in range(30)]
        print(losses[-1] < 0.8 * losses[0], session.graph.get_tensor_by_name("conv/conv_2/BatchNorm/beta:0").shape)
        print(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), slim.get_model_variables()[0].name)
        """
    )
    assert told == ["True", "(4,)", "2", "conv/conv_1/weights:0"]


def test_paths_of_its_time():
    told = python(
        """
        from ebbflow.compat import alias
        alias.install()
        import ebbflow.v1 as tf
        from ebbflow.api.namespace import open_door
        open_door("tf1", "v1")
        import tf1.contrib.slim as slim
        from tf1.contrib.slim.nets import vgg
        from tf1.contrib.slim.python.slim.nets import inception_v3
        from tf1.contrib.framework import arg_scope
        from tf1.contrib.layers.python.layers import utils
        logits, points = vgg.vgg_a(tf.placeholder(tf.float32, [1, 224, 224, 3]))
        print(logits.shape.as_list(), arg_scope is slim.arg_scope, inception_v3.inception_v3_base.__name__)
        print(utils.last_dimension(logits.shape))
        """
    )
    assert told == ["[1,", "1000]", "True", "inception_v3_base", "1000"]


def test_masked_layers_take_part_in_argument_scopes():
    told = python(
        """
        import ebbflow.v1 as tf

        slim, pruning = tf.contrib.slim, tf.contrib.model_pruning
        tf.train.get_or_create_global_step()
        x = tf.ones([2, 6, 6, 3])
        with slim.arg_scope([pruning.masked_conv2d], normalizer_fn=slim.batch_norm):
            net = pruning.masked_conv2d(x, 4, 3, scope="first")
        net = pruning.masked_fully_connected(slim.flatten(net), 2, activation_fn=None, scope="second")
        print(*[v.op.name for v in tf.global_variables() if v.op.name.count("/") == 1])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(pruning.Pruning(sparsity=tf.constant(0.5)).mask_update_op())
            print(all(0.4 < v < 0.6 for v in session.run(pruning.get_weight_sparsity())), session.run(net).shape[1])
        for refused in (lambda: pruning.masked_conv2d(x[0], 4, 3), lambda: pruning.masked_fully_connected(x, 2.5)):
            try:
                refused()
            except ValueError as error:
                print("rank" in str(error) or "num_outputs" in str(error))
        """
    )
    names = "first/weights first/mask first/threshold second/weights second/biases second/mask second/threshold"
    assert told[-4:] == ["True", "2", "True", "True"]
    assert sorted(told[:-4]) == sorted(names.split())
