"""Masks of weights: how many stay, when they change, blocks of them, and layers that have them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.pruning import blocks, layers, masks, stripping

v1 = tf.compat.v1


def spec(*settings):
    return masks.get_pruning_hparams().parse(",".join(settings))


def variable(values, name="weights"):
    return v1.Variable(np.float32(values), name=name, use_resource=False)


def test_the_smallest_weights_go():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.get_or_create_global_step()
        masked = masks.apply_mask(variable(np.linspace(1, 100, 100)))
        update = masks.Pruning(sparsity=v1.Variable(0.95)).mask_update_op()
        session.run(v1.global_variables_initializer())
        assert np.count_nonzero(session.run(masked)) == 100
        session.run(update)
        assert session.run(masked).nonzero()[0].tolist() == [95, 96, 97, 98, 99]


def test_masks_change_every_few_steps_of_a_span():
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        masked, sparsity = masks.apply_mask(variable(np.linspace(1, 100, 100))), v1.Variable(0.0)
        settings = spec("pruning_frequency=2", "begin_pruning_step=1", "end_pruning_step=6")
        update = masks.Pruning(settings, sparsity=sparsity).conditional_mask_update_op()
        grow, on = v1.assign_add(sparsity, 0.1), v1.assign_add(step, 1)
        session.run(v1.global_variables_initializer())
        left = []
        for _ in range(10):
            session.run(update)
            session.run([grow, on])
            left.append(np.count_nonzero(session.run(masked)))
        assert left == [100, 100, 80, 80, 60, 60, 40, 40, 40, 40]


@pytest.mark.parametrize("pooling", ["AVG", "MAX"])
@pytest.mark.parametrize("size, lead", [((2, 2), ()), ((1, -1), ()), ((2, 2), (1,))])
def test_blocks_go_together(pooling, size, lead):
    weights = np.repeat([[0.1, 0.2], [0.3, 0.4]], 2, 0).repeat(2, 1).reshape(*lead, 4, 4)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.get_or_create_global_step()
        settings = spec(f"block_height={size[0]}", f"block_width={size[1]}", f"block_pooling_function={pooling}")
        pruning = masks.Pruning(settings, sparsity=tf.constant(0.5))
        _, mask = pruning._maybe_update_block_mask(tf.constant(weights, tf.float32), tf.constant(0.0))
        wanted = np.zeros_like(weights)
        wanted[..., 2:, :] = 1
        np.testing.assert_array_equal(session.run(mask), wanted)


def test_weights_have_their_own_goals():
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        for scope in ("a", "b"):
            with v1.variable_scope(scope):
                masks.apply_mask(variable(np.linspace(1, 100, 100)))
        settings = spec("pruning_frequency=1", "weight_sparsity_map=[a:0.75,c:0.1]", "sparsity_function_end_step=5")
        update = masks.Pruning(settings).conditional_mask_update_op()
        session.run(v1.global_variables_initializer())
        for _ in range(8):
            session.run(update)
            session.run(step.assign_add(1))
        np.testing.assert_allclose(session.run(masks.get_weight_sparsity()), [0.75, 0.5])


@pytest.mark.parametrize(
    "setting", ["begin_pruning_step=-1", "end_pruning_step=0", "threshold_decay=1.0", "target_sparsity=-0.5"]
)
def test_settings_that_cannot_be_are_named(setting):
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        with pytest.raises(ValueError, match=f"Illegal value for {setting.partition('=')[0]}"):
            masks.Pruning(spec(setting))


@pytest.mark.parametrize("shape, block", [((3, 3), (6, 6)), ((8, 5), (4, 1)), ((6, 7), (2, 3))])
def test_pooling_and_spreading(shape, block):
    with tf.Graph().as_default(), v1.Session() as session:
        x = np.random.RandomState(0).randn(*shape).astype(np.float32)
        for way in ("AVG", "MAX"):
            whole = v1.nn.pool(x[None, :, :, None], block, way, "SAME", strides=block)[0, :, :, 0]
            found, wanted = session.run([blocks.factorized_pool(x, block, way, block, "SAME"), whole])
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
        spread = session.run([blocks.expand_tensor(x, block), blocks.kronecker_product(x, np.ones(block, np.float32))])
        np.testing.assert_array_equal(spread[0], np.kron(x, np.ones(block)))
        np.testing.assert_array_equal(spread[1], spread[0])


@pytest.mark.parametrize(
    "make, x",
    [
        (lambda: layers.MaskedConv2D(3, 2), np.ones([1, 4, 4, 2], np.float32)),
        (lambda: layers.MaskedFullyConnected(3), np.ones([2, 4], np.float32)),
    ],
)
def test_layers_are_masked_and_stripped(make, x):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.train.get_or_create_global_step()
        out = tf.identity(make().apply(tf.constant(x)), name="out")
        assert [len(v1.get_collection(c)) for c in ("masks", "thresholds", "masked_weights", "kernel")] == [1] * 4
        assert [v.op.name.rpartition("/")[2] for v in v1.trainable_variables()] == ["kernel", "bias"]
        session.run(v1.global_variables_initializer())
        session.run(masks.Pruning(sparsity=tf.constant(0.5)).mask_update_op())
        wanted = session.run(out)
        frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["out"])
    bare = stripping.strip_pruning_vars_fn(frozen, [stripping.node_name("out:0")])
    assert any("mask" in n.name for n in frozen.node)
    assert not any(n.name.endswith(("mask", "threshold")) for n in bare.node)
    with tf.Graph().as_default(), v1.Session() as session:
        (found,) = v1.import_graph_def(bare, return_elements=["out:0"], name="")
        np.testing.assert_allclose(session.run(found), wanted)


@pytest.mark.parametrize("make", [layers.MaskedBasicLSTMCell, lambda n: layers.MaskedLSTMCell(n, num_proj=n)])
def test_cells_are_masked(make):
    with tf.Graph().as_default():
        cell = make(3)
        cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
        shapes = [m.shape.as_list() for m in masks.get_masks()]
        assert (
            shapes[0] == [7, 12] and len(shapes) == len(masks.get_masked_weights()) == len(cell.trainable_weights) - 1
        )
