"""Layers beyond the golden programs: TensorFlow 1.15's numbers and names, sharing, losses, own layers, misuse."""

import copy
import inspect
import types

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.layers import base, convolutional, core, deconvolutional, normalization, pooling, separable
from tests.golden.layers import layer_cases

v1 = tf.compat.v1
MODULES = (base, convolutional, core, deconvolutional, normalization, pooling, separable)
layers = types.SimpleNamespace(**{name: value for module in MODULES for name, value in vars(module).items()})
ANSWERS = layer_cases.answers()
RELATIVE = 2e-5  # sums over a window or a batch, in another order than TensorFlow's
X = layer_cases.waves(4, 3)
ONES = v1.ones_initializer()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def names(variables):
    return [v.name for v in variables]


def values(fetches, feed=None):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(fetches, feed)


def assert_told(given, wanted):
    assert given["shape"] == wanted["shape"]
    scale = max(np.abs(wanted["first"]).max(initial=0.0), 1.0)  # inputs and weights are about 1: sums may cancel
    np.testing.assert_allclose(given["first"], wanted["first"], rtol=RELATIVE, atol=RELATIVE * scale)
    size = int(np.prod(wanted["shape"]))
    np.testing.assert_allclose(given["sum"], wanted["sum"], rtol=RELATIVE, atol=RELATIVE * scale * size)


# --- TensorFlow's answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", layer_cases.CASES)
def test_answers_in_a_graph(name):
    context.enter_v1()
    wanted = ANSWERS[name]
    given = layer_cases.play_in_a_graph(tf, v1, layers, name)
    assert given["static"] == wanted["static"] and given["nodes"] == wanted["nodes"]
    assert list(given["variables"]) == list(wanted["variables"])
    for one, other in zip(given["outputs"], wanted["outputs"]):
        assert_told(one, other)
    for key, value in wanted["variables"].items():
        assert_told(given["variables"][key], value)


@pytest.mark.parametrize("name", layer_cases.CASES)
def test_answers_eagerly(name):
    given = layer_cases.play_eagerly(tf, layers, name)
    for one, other in zip(given["outputs"], ANSWERS[name]["outputs"]):
        assert_told(one, other)
    for one, other in zip(given["variables"], ANSWERS[name]["variables"].values()):
        assert_told(one, other)


@pytest.mark.parametrize("name", layer_cases.CASES)
def test_output_shapes_are_told_beforehand(name):
    make, shape, _ = layer_cases.CASES[name]
    if "separable" in name:
        return  # TensorFlow tells those without mixing; see the layer's output
    layer = make(layers, tf, layer_cases.ramp(tf))
    assert tuple(layer.compute_output_shape(shape)) == tuple(ANSWERS[name]["outputs"][0]["shape"])


# --- names and sharing ------------------------------------------------------------------------------------------------

KINDS = {
    "dense": lambda: layers.Dense(2),
    "conv1d": lambda: layers.Conv1D(2, 2),
    "conv2d": lambda: layers.Conv2D(2, 2),
    "conv3d": lambda: layers.Conv3D(2, 2),
    "conv2d_transpose": lambda: layers.Conv2DTranspose(2, 2),
    "separable_conv2d": lambda: layers.SeparableConv2D(2, 2),
    "max_pooling1d": lambda: layers.MaxPooling1D(2, 2),
    "average_pooling3d": lambda: layers.AveragePooling3D(2, 2),
    "flatten": lambda: layers.Flatten(),
    "dropout": lambda: layers.Dropout(0.5),
    "batch_normalization": lambda: layers.BatchNormalization(),
}


@pytest.mark.parametrize("name", KINDS)
def test_layers_are_numbered(name, graph):
    assert [KINDS[name]().name for _ in range(2)] == [f"{name}_1", f"{name}_2"]


def test_one_layer_called_twice_shares_its_variables(graph):
    layer = layers.Dense(2)
    one, two = layer(tf.constant(X)), layer(tf.constant(X))
    assert names(v1.global_variables()) == ["dense/kernel:0", "dense/bias:0"]
    assert [one.name, two.name] == ["dense/BiasAdd:0", "dense/BiasAdd_1:0"]
    np.testing.assert_array_equal(*values([one, two]))


def test_scopes_and_reuse(graph):
    x = tf.constant(X)
    with v1.variable_scope("s"):
        layers.dense(x, 2)
        layers.dense(x, 2)
        named = layers.dense(x, 2, name="named")
    with v1.variable_scope("s", reuse=True):
        again = layers.dense(x, 2, name="named")
    shared = layers.dense(x, 2, name="s/named", reuse=True)
    with v1.variable_scope("t", reuse=v1.AUTO_REUSE):
        layers.dense(x, 2, name="a")
        layers.dense(x, 2, name="a")
    kernels = [n for n in names(v1.global_variables()) if "kernel" in n]
    assert kernels == ["s/dense/kernel:0", "s/dense_1/kernel:0", "s/named/kernel:0", "t/a/kernel:0"]
    a, b, c = values([named, again, shared])
    assert (a == b).all() and (a == c).all()


def test_scopes_give_initializers_and_kinds_of_variables(graph):
    with v1.variable_scope("s", initializer=ONES, use_resource=True):
        y = layers.dense(tf.constant(X), 2)
    np.testing.assert_allclose(values(y), X.sum(1, keepdims=True) * [1.0, 1.0], rtol=1e-6)
    assert all(hasattr(v, "handle") for v in v1.global_variables())


def test_partitioned_kernels(graph):
    with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(3), initializer=ONES):
        layer = layers.Dense(2, use_bias=False)
        y = layer(tf.constant(X))
    assert [v for v in names(v1.global_variables())] == [f"s/dense/kernel/part_{i}:0" for i in range(3)]
    assert len(layer.trainable_weights) == 1 and layer.non_trainable_weights == []
    np.testing.assert_allclose(values(y), X.sum(1, keepdims=True) * [1.0, 1.0], rtol=1e-6)


def test_a_layer_can_be_built_by_hand(graph):
    layer = layers.Dense(2, name="d")
    with pytest.raises(ValueError, match="has not been used yet"):
        layer.scope_name  # noqa: B018
    with pytest.raises(ValueError, match="isn't built"):
        layer.count_params()
    layer.build([None, 3])
    assert names(layer.weights) == ["d/kernel:0", "d/bias:0"] and layer.count_params() == 8
    layer(tf.constant(X))
    assert len(v1.global_variables()) == 2 and layer.scope_name == "d" and layer.dtype == "float32"


def test_frozen_layers(graph):
    layers.dense(tf.constant(X), 2, trainable=False)
    norm = layers.BatchNormalization(trainable=False)
    norm(tf.constant(X), training=True)
    assert v1.trainable_variables() == [] and len(v1.global_variables()) == 6
    assert norm.trainable_variables == [] and len(norm.non_trainable_variables) == 4
    assert norm.updates == [] and v1.get_collection(v1.GraphKeys.UPDATE_OPS) == []


def test_frozen_later(graph):
    layer = layers.Dense(2)
    layer(tf.constant(X))
    assert len(layer.trainable_variables) == 2
    layer.trainable = False
    assert layer.trainable_variables == [] and len(layer.non_trainable_variables) == 2


def test_eager_layers_keep_their_variables():
    layer = layers.Dense(2, kernel_initializer=ONES)
    first = layer(X)
    layer.kernel.assign_add(np.ones([3, 2], np.float32))
    np.testing.assert_allclose(layer(X).numpy(), 2 * first.numpy(), rtol=1e-6)
    assert len(layer.variables) == 2 and all(v.trainable for v in layer.variables)


def test_eager_layers_are_trained():
    layer = layers.Dense(1, kernel_initializer=ONES)
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    losses = []
    for _ in range(20):
        optimizer.minimize(lambda: losses.append(tf.reduce_mean(tf.square(layer(X) - 1.0))) or losses[-1])
    assert float(losses[-1]) < 0.2 * float(losses[0])


# --- losses and updates -----------------------------------------------------------------------------------------------


def penalty(v):
    return tf.reduce_sum(tf.abs(v))


def test_regularizers_are_asked_once(graph):
    x = tf.constant(X)
    layer = layers.Dense(2, kernel_initializer=ONES, kernel_regularizer=penalty)
    layer(x)
    layer(x)
    layers.dense(x, 2, name="d", kernel_regularizer=penalty, bias_regularizer=penalty)
    layers.dense(x, 2, name="d", kernel_regularizer=penalty, reuse=True)
    collected = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    assert names(collected) == [
        "dense/kernel/Regularizer/Sum:0",
        "d/kernel/Regularizer/Sum:0",
        "d/bias/Regularizer/Sum:0",
    ]
    assert layer.losses == collected[:1] and values(collected[0]) == 6.0
    assert layer.get_losses_for(None) == layer.losses and layer.get_losses_for(x) == []


def test_activity_is_regularized_per_example(graph):
    x = tf.constant(X)
    layer = layers.Dense(2, kernel_initializer=ONES, activity_regularizer=penalty)
    y = layer(x)
    assert layer.get_losses_for(x) == layer.losses and layer.get_losses_for(None) == []
    given, outputs = values([layer.losses[0], y])
    np.testing.assert_allclose(given, np.abs(outputs).sum() / 4, rtol=1e-6)


def test_eager_losses():
    layer = layers.Dense(2, kernel_initializer=ONES, kernel_regularizer=penalty, activity_regularizer=penalty)
    for _ in range(2):
        y = layer(X)
        assert [float(loss) for loss in layer.losses] == pytest.approx([np.abs(y.numpy()).sum() / 4, 6.0], rel=1e-6)
    layer.kernel.assign(2 * np.ones([3, 2], np.float32))
    assert float(layer.losses[-1]) == 12.0


def test_updates_know_their_inputs(graph):
    x, other = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 3])
    layer = layers.BatchNormalization()
    layer(x, training=True)
    assert len(layer.get_updates_for(x)) == 2
    assert layer.get_updates_for(other) == [] and layer.get_updates_for(None) == []
    assert v1.get_collection(v1.GraphKeys.UPDATE_OPS) == layer.updates


@pytest.mark.parametrize("make", [layers.BatchNormalization, lambda: layers.BatchNormalization(renorm=True)])
@pytest.mark.parametrize("shape", [(4, 3), (4, 2, 2, 3)])
def test_a_placeholder_says_whether_it_trains(make, shape, graph):
    x, training = v1.placeholder(tf.float32, (None, *shape[1:])), v1.placeholder(tf.bool, [])
    layer = make()
    y = layer(x, training=training)
    batch = layer_cases.waves(*shape) * 2.0 + 1.0
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        before = session.run(layer.moving_mean)
        session.run([y, layer.updates], {x: batch, training: False})
        np.testing.assert_array_equal(session.run(layer.moving_mean), before)
        session.run([y, layer.updates], {x: batch, training: True})
        moved = session.run(layer.moving_mean)
        axes = tuple(range(len(shape) - 1))
        np.testing.assert_allclose(moved, 0.01 * batch.mean(axes), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_dropout(mode):
    with context.eager_scope() if mode == "eager" else tf.Graph().as_default():
        x = tf.ones([200, 5])
        outputs = [
            layers.dropout(x, 0.25),
            layers.dropout(x, 0.25, training=True),
            layers.dropout(x, 0.25, noise_shape=[None, 1], training=True),
        ]
        rest, dropped, rows = [y.numpy() for y in outputs] if mode == "eager" else values(outputs)
    assert (rest == 1.0).all()
    assert np.unique(dropped).tolist() == pytest.approx([0.0, 4 / 3]) and 0.65 < (dropped > 0).mean() < 0.85
    assert (rows == rows[:, :1]).all() and 0.5 < (rows > 0).mean() < 0.95


# --- layers of one's own ----------------------------------------------------------------------------------------------


class Affine(v1.layers.Layer):
    """Weights by `add_variable` and `add_weight`, one of them not trained; takes `training`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_variable("w", [int(input_shape[-1]), self.units], initializer=ONES)
        self.b = self.add_weight(name="b", shape=[self.units], initializer=ONES, trainable=False)
        super().build(input_shape)

    def call(self, inputs, training=False):
        return tf.matmul(inputs, self.w) + (self.b if training else 0.0)


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_a_layer_of_ones_own(mode):
    with context.eager_scope() if mode == "eager" else tf.Graph().as_default():
        layer = Affine(2, name="mine")
        rest, trained = layer(tf.constant(X)), layer(tf.constant(X), training=True)
        assert layer.built and names(layer.weights) == ["mine/w:0", "mine/b:0"]
        assert names(layer.trainable_variables) == ["mine/w:0"]
        got = [rest.numpy(), trained.numpy()] if mode == "eager" else values([rest, trained])
    np.testing.assert_allclose(got[1] - got[0], np.ones([4, 2]), rtol=1e-6)


class Joined(v1.layers.Layer):
    """Several inputs, and a `scope` argument with which it makes a variable in `call`."""

    def call(self, inputs, scope=None):
        scale = v1.get_variable("scale", [], initializer=ONES)
        return [tf.add_n(inputs) * scale, scope.name]


def test_several_inputs_and_the_scope(graph):
    layer = Joined()
    (total, where), (_, _) = layer([tf.constant(X), tf.constant(X)]), layer([tf.constant(X), tf.constant(X)])
    assert where == "joined" and names(v1.global_variables()) == ["joined/scale:0"]
    np.testing.assert_allclose(values(total), 2 * X, rtol=1e-6)


def test_copies_share_variables_but_not_settings(graph):
    layer = layers.Dense(2, name="d")
    layer(tf.constant(X))
    copied = copy.deepcopy(layer)
    assert copied.kernel is layer.kernel and copied.weights == layer.weights
    copied.units = 7
    assert layer.units == 2


def test_weights_as_arrays():
    layer = layers.Dense(2)
    layer(X)
    layer.set_weights([np.ones([3, 2], np.float32), np.zeros([2], np.float32)])
    kernel, bias = layer.get_weights()
    assert (kernel == 1.0).all() and (bias == 0.0).all()
    with pytest.raises(ValueError, match="with a  weight list of length 1, but the layer was expecting 2"):
        layer.set_weights([kernel])
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        layer.set_weights([kernel, np.zeros([3])])


# --- signatures and misuse --------------------------------------------------------------------------------------------

CONV = "filters kernel_size strides padding data_format"
COMMON = "use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer"
SEPARABLE = (
    "use_bias depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer pointwise_regularizer "
    "bias_regularizer activity_regularizer depthwise_constraint pointwise_constraint bias_constraint trainable name"
)
TAIL = "kernel_constraint bias_constraint trainable name"
SIGNATURES = {
    "dense": f"inputs units activation {COMMON} {TAIL} reuse",
    "conv1d": f"inputs {CONV} dilation_rate activation {COMMON} {TAIL} reuse",
    "conv2d": f"inputs {CONV} dilation_rate activation {COMMON} {TAIL} reuse",
    "conv3d": f"inputs {CONV} dilation_rate activation {COMMON} {TAIL} reuse",
    "conv2d_transpose": f"inputs {CONV} activation {COMMON} {TAIL} reuse",
    "conv3d_transpose": f"inputs {CONV} activation {COMMON} {TAIL} reuse",
    "separable_conv1d": f"inputs {CONV} dilation_rate depth_multiplier activation {SEPARABLE} reuse",
    "separable_conv2d": f"inputs {CONV} dilation_rate depth_multiplier activation {SEPARABLE} reuse",
    "max_pooling2d": "inputs pool_size strides padding data_format name",
    "average_pooling1d": "inputs pool_size strides padding data_format name",
    "dropout": "inputs rate noise_shape seed training name",
    "flatten": "inputs name data_format",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    assert list(inspect.signature(getattr(layers, name)).parameters) == SIGNATURES[name].split()


IMAGE = layer_cases.waves(1, 7, 7, 2)

REFUSALS = {
    "rank": (lambda: layers.dense(tf.constant([1.0]), 2), ValueError, "expected min_ndim=2, found ndim=1"),
    "integers": (lambda: layers.dense(tf.constant([[1, 2]]), 2), TypeError, "non-floating point dtype"),
    "images that are lines": (lambda: layers.conv2d(X, 2, 2), ValueError, "expected ndim=4, found ndim=2"),
    "other channels": (
        lambda: (lambda layer: [layer(IMAGE), layer(IMAGE[..., :1])])(layers.Conv2D(2, 2)),
        ValueError,
        "expected axis -1 of input shape to have value 2 but received input with shape",
    ),
    "padding": (lambda: layers.conv2d(IMAGE, 2, 2, padding="most"), ValueError, '"valid", "same"'),
    "causal images": (lambda: layers.conv2d(IMAGE, 2, 2, padding="causal"), ValueError, "Causal padding is only"),
    "data format": (
        lambda: layers.conv2d(IMAGE, 2, 2, data_format="NHWC"),
        ValueError,
        '"channels_first", "channels_last"',
    ),
    "kernel size": (lambda: layers.conv2d(IMAGE, 2, [1, 2, 3]), ValueError, "must be a tuple of 2 integers"),
    "strange kernel size": (lambda: layers.conv2d(IMAGE, 2, ["a", 2]), ValueError, "including element a of type"),
    "kernel larger than the image": (
        lambda: layers.conv2d(IMAGE, 2, 9),
        tf.errors.InvalidArgumentError,
        "egative",  # the size of the output: TensorFlow words it differently at run time and when building
    ),
    "strides and dilation": (
        lambda: layers.conv2d(IMAGE, 2, 2, strides=2, dilation_rate=2),
        ValueError,
        "strides > 1 not supported in conjunction with dilation_rate > 1",
    ),
    "axis": (lambda: layers.batch_normalization(X, axis=4), ValueError, "Invalid axis: 4"),
    "axis twice": (lambda: layers.batch_normalization(X, axis=[1, -1]), ValueError, "Duplicate axis"),
    "axis by name": (lambda: layers.batch_normalization(X, axis="c"), TypeError, "axis must be int or list"),
    "clipping": (
        lambda: layers.batch_normalization(X, renorm=True, renorm_clipping={"r": 1.0}),
        ValueError,
        "contains keys not in",
    ),
    "virtual batches": (
        lambda: layers.batch_normalization(X, virtual_batch_size=-1),
        ValueError,
        "virtual_batch_size must be a positive integer",
    ),
    "activation": (lambda: layers.dense(X, 2, activation="steep"), ValueError, "Unknown activation function:steep"),
    "initializer": (lambda: layers.dense(X, 2, kernel_initializer="good"), ValueError, "Unknown initializer:good"),
    "regularizer": (lambda: layers.dense(X, 2, kernel_regularizer="l2"), ValueError, "Could not interpret regularizer"),
    "units": (lambda: layers.dense(X, -2), ValueError, "units must not be negative"),
    "an argument nobody knows": (lambda: layers.Dense(2, unit=3), TypeError, "Keyword argument not understood"),
    "a call that gives nothing": (
        lambda: type("Nothing", (layers.Layer,), {"call": lambda self, x: None})()(X),
        ValueError,
        "should return a Tensor or a list of Tensors, not None",
    ),
    "input_spec": (
        lambda: setattr(layers.Dense(2), "input_spec", 3),
        TypeError,
        "Layer input_spec must be an instance of InputSpec",
    ),
    "an axis of no length": (lambda: layers.InputSpec(ndim=2, axes={2: 3}), ValueError, "Axis 2 is greater than"),
    "the wrong number of inputs": (lambda: layers.Dense(2)([X, X]), ValueError, "expects 1 inputs, but it received 2"),
}


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("what, error, words", REFUSALS.values(), ids=REFUSALS)
def test_refused(what, error, words, mode):
    with context.eager_scope() if mode == "eager" else tf.Graph().as_default(), pytest.raises(error) as refused:
        what()
    assert words in str(refused.value)


GRAPH_REFUSALS = {
    "unknown rank": (lambda: layers.dense(v1.placeholder(tf.float32), 2), "its rank is undefined"),
    "unknown length": (
        lambda: layers.dense(v1.placeholder(tf.float32, [2, None]), 2),
        "should be defined. Found `None`",
    ),
    "unknown channels": (
        lambda: layers.conv2d(v1.placeholder(tf.float32, [1, 3, 3, None]), 2, 2),
        "The channel dimension of the inputs should be defined",
    ),
    "unknown axis": (
        lambda: layers.batch_normalization(v1.placeholder(tf.float32, [3, None])),
        "Input has undefined `axis` dimension",
    ),
    "a name twice": (
        lambda: [layers.dense(tf.constant(X), 2, name="d") for _ in range(2)],
        "Variable d/kernel already exists, disallowed",
    ),
    "nothing to reuse": (
        lambda: layers.dense(tf.constant(X), 2, name="d", reuse=True),
        "Variable d/kernel does not exist, or was not created",
    ),
    "another size": (
        lambda: [layers.dense(tf.constant(X), n, name="d", reuse=v1.AUTO_REUSE) for n in (2, 3)],
        "Trying to share variable d/kernel, but specified shape (3, 3) and found shape (3, 2)",
    ),
}


@pytest.mark.parametrize("what, words", GRAPH_REFUSALS.values(), ids=GRAPH_REFUSALS)
def test_refused_in_a_graph(what, words, graph):
    with pytest.raises(ValueError) as refused:
        what()
    assert words in str(refused.value)


def test_checkpoints_know_the_variables_of_layers_and_cells(graph, tmp_path):
    dense, cells = layers.Dense(2), [v1.nn.rnn_cell.BasicLSTMCell(3), v1.nn.rnn_cell.GRUCell(2)]
    stack = v1.nn.rnn_cell.MultiRNNCell(cells)
    v1.nn.static_rnn(stack, [dense(tf.constant(X))], dtype=tf.float32)
    assert isinstance(dense, tf.Module) and stack.submodules == tuple(cells)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        path = v1.train.Checkpoint(d=dense, s=stack).save(str(tmp_path / "ck"), session=session)
    keys = [key.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for key, shape in tf.train.list_variables(path) if shape]
    gates = [f"s/cell-1/{part}.S{kind}" for part in ("candidate", "gates") for kind in ("bias", "kernel")]
    assert keys == ["d/bias", "d/kernel", "s/cell-0/bias", "s/cell-0/kernel", *gates]
    again = copy.deepcopy(stack)
    assert all(a is b for a, b in zip(again.weights, stack.weights, strict=True)) and again is not stack


@pytest.mark.parametrize("flag, chosen", [(True, 1), (0, 2), (np.bool_(True), 1), (tf.constant(False), 2)])
def test_smart_cond_calls_what_a_known_flag_says(flag, chosen):
    assert tf.__internal__.smart_cond.smart_cond(flag, lambda: 1, lambda: 2) == chosen


@pytest.mark.parametrize("flag", [3, "a", None, 0.5])
def test_smart_cond_refuses_what_is_no_flag(flag):
    with pytest.raises(TypeError, match="`pred` must be a Tensor, or a Python bool, or 1 or 0"):
        tf.__internal__.smart_cond.smart_cond(flag, lambda: 1, lambda: 2)


def doubled(getter, *args, **kwargs):
    return getter(*args, **kwargs) * 2.0


def test_a_custom_getter_may_make_a_tensor_of_a_variable():
    ones = tf.ones([1, 3])
    with tf.Graph().as_default():
        with v1.variable_scope("s", custom_getter=doubled):
            layer = v1.layers.Dense(2, kernel_initializer="ones", kernel_regularizer=tf.reduce_sum)
            y = layer(tf.ones([1, 3]))
        assert [v.name for v in v1.trainable_variables()] == ["s/dense/kernel:0", "s/dense/bias:0"]
        assert layer.kernel is layer.weights[0] and isinstance(layer.kernel, tf.Tensor)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(y).tolist() == [[6.0, 6.0]]
            assert session.run(layer.losses) == [12.0]
    with v1.variable_scope("s", custom_getter=doubled):
        layer = v1.layers.Dense(2, kernel_initializer="ones")
        assert layer(ones).numpy().tolist() == [[6.0, 6.0]]
    assert len(layer.trainable_weights) == 2
