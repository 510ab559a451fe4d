"""Cases of families of `tf.contrib` that few programs use; the form is that of `families`."""

import importlib

import numpy as np

from tests.golden.contrib.cases import Cases, run

case = CASES = Cases()



def inner(tf, path):
    """Return an inner module of `tf.contrib`."""
    return importlib.import_module(tf.contrib.opt.__name__[: -len("opt")] + path)


def refusal(function, *args, **kwargs):
    """Return the class and the first words of the error of a call."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split()[:4]))
    return "no error"


# --- labelled tensors -------------------------------------------------------------------------------------------------


def labelled(tf):
    lt = tf.contrib.labeled_tensor
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return lt, lt.LabeledTensor(tf.constant(values), [("x", ["a", "b"]), "y", ("z", range(4))])


@case
def labelled_parts_and_orders(tf):
    lt, t = labelled(tf)
    made = [
        lt.select(t, {"x": "b"}),
        lt.select(t, {"x": ["b", "a"]}),
        lt.select(t, {"z": slice(1, 2)}),
        t[:, 1, 2:],
        lt.transpose(t, ["z", "x", "y"]),
        lt.reshape(t, ["x", "y"], ["w"]),
        lt.reduce_sum(t, ["y", ("x", "all")]),
        lt.pad(t, {"y": (1, 0)}),
        lt.tile(t, {"y": 2}),
        lt.concat([t, t[:, :1, :]], "y"),
        lt.pack([t[0, :, :], t[1, :, :]], "new", axis_position=1),
        lt.rename_axis(t, "y", "why"),
        lt.squeeze(t[:1, :, :]),
        lt.boolean_mask(lt.transpose(t, ["y", "x", "z"]), lt.LabeledTensor(tf.constant([True, False, True]), ["y"])),
    ]
    return run(tf, *[m.tensor for m in made]) + [repr(m.axes) for m in made] + [m.name.split(":")[0] for m in made]


@case
def labelled_arithmetic(tf):
    lt, t = labelled(tf)
    columns = lt.LabeledTensor(tf.constant([10.0, 20.0, 30.0]), ["y"])
    matrix = lt.LabeledTensor(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ["y", "k"])
    made = [
        t + columns,
        2.0 - t,
        -t,
        lt.matmul(t[0, :, :], matrix),
        lt.matmul(columns, matrix),
        lt.foldl(lambda total, row: total + row, columns, 1.0),
        lt.map_fn(lambda row: lt.reduce_max(row, "z"), t),
        lt.where(t > 3.0, t, lt.zeros_like(t)),
    ]
    with lt.axis_order_scope(["z", "y", "x"]):
        made.append(lt.impose_axis_order(t))
    return run(tf, *[m.tensor for m in made]) + [repr(m.axes) for m in made]


@case
def labelled_refusals(tf):
    lt, t = labelled(tf)
    other = lt.LabeledTensor(tf.zeros([4, 3]), [("z", range(4)), "y"])
    return [
        refusal(lt.Axis, "x", [1, 1]),
        refusal(lt.Axes, [("x", 1), ("x", 2)]),
        refusal(lt.LabeledTensor, tf.zeros([2]), lt.Axes([("x", 2), ("y", 3)])),
        refusal(lt.select, t, {"y": 1}),
        refusal(lt.select, t, {"x": ["a"], "z": 1}),
        refusal(lt.align, t, other),
        refusal(lt.reshape, t, ["x", "z"], ["w"]),
        refusal(lt.tile, t, {"x": 2}),
        refusal(lt.matmul, t, t),
        refusal(lt.check_axis_order, t),
        refusal(lt.convert_to_labeled_tensor, tf.zeros([2])),
        refusal(lt.squeeze, t, ["x"]),
    ]


# --- solvers, kernels, steps ------------------------------------------------------------------------------------------


@case
def solvers(tf):
    names = ("util", "linear_equations", "least_squares", "lanczos")
    util, equations, squares, lanczos = [inner(tf, "solvers.python.ops." + name) for name in names]
    square = tf.constant([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    rhs = tf.constant([1.0, 2.0, -1.0])
    plain = equations.conjugate_gradient(util.create_operator(square), rhs, tol=1e-7)
    ready = equations.conjugate_gradient(
        util.create_operator(square), rhs, preconditioner=util.identity_operator(square), x=tf.ones([3]), max_iter=2
    )
    tall = util.create_operator(tf.concat([square, [[1.0, 1.0, 1.0]]], 0))
    least = squares.cgls(tall, tf.constant([1.0, 2.0, -1.0, 0.5]))
    found = lanczos.lanczos_bidiag(tall, 2, starting_vector=tf.constant([1.0, 0.0, 2.0, 1.0]))
    matrix = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    products = [
        lanczos.bidiag_matmul(matrix, [1.0, 2.0], [0.5, -1.0]),
        lanczos.bidiag_matmul(matrix, [1.0, 2.0, 3.0], [0.5, -1.0, 2.0], adjoint_b=True),
    ]
    return run(tf, plain.i, plain.x, ready.x, ready.gamma, least.x, found.alpha, found.beta, *products)


@case
def kernels_of_random_features(tf):
    methods = tf.contrib.kernel_methods
    mapper = methods.RandomFourierFeatureMapper(3, 5, 2.0, seed=4, name="m")
    labels, logits = tf.constant([0, 2]), tf.constant([[1.2, -1.4, -1.0], [1.4, 1.8, 4.0]])
    loss = methods.sparse_multiclass_hinge_loss
    return [
        *run(tf, mapper.map(tf.constant([[0.1, -0.2, 0.3]])), loss(labels, logits), loss(labels, -logits, [1.0, 3.0])),
        refusal(mapper.map, tf.zeros([2, 4])),
        refusal(loss, tf.constant([0.5]), logits),
        refusal(loss, labels, tf.zeros([3])),
    ]


@case
def decays_of_signs(tf):
    decay = inner(tf, "opt.python.training.sign_decay")
    functions = [
        decay.get_linear_decay_fn(8),
        decay.get_cosine_decay_fn(8),
        decay.get_cosine_decay_fn(8, num_periods=2, zero_after=1.5),
        decay.get_restart_decay_fn(8, num_periods=3),
        decay.get_restart_decay_fn(8, num_periods=3, zero_after=2),
    ]
    return run(tf, *[f(tf.constant(step)) for f in functions for step in (0, 1, 4, 7, 20)])


@case
def axes_of_samples_batches_and_events(tf):
    kind = inner(tf, "distributions.python.ops.shape")._DistributionShape
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    fed = tf.placeholder_with_default(x, None)
    found = []
    for batch, event in ((1, 1), (0, 1), (1, 0), (0, 0), (2, 1)):
        for value in (x, fed):
            shape = kind(batch, event)
            matrices, samples = shape.make_batch_of_event_sample_matrices(value)
            back = shape.undo_make_batch_of_event_sample_matrices(matrices, samples)
            found += [*shape.get_dims(value), *shape.get_shape(value), matrices, tf.reduce_sum(tf.abs(back - value))]
    return [*run(tf, *found), refusal(kind, 1), refusal(kind, -1, 0), refusal(kind(2, 2).get_sample_ndims, x)]


@case
def losses_of_embeddings(tf):
    losses = tf.contrib.losses.metric_learning
    labels = tf.constant([0, 1, 0, 2, 1, 0])
    draw = np.random.RandomState(3)
    first, second = (tf.constant(draw.normal(size=(6, 4)).astype(np.float32)) for _ in range(2))
    sparse = [tf.SparseTensor([[0, i % 3], [0, 3]], [1, 1], [1, 4]) for i in range(6)]
    values = [
        losses.contrastive_loss(tf.constant([1, 0, 1, 0, 0, 1]), first, second, margin=2.0),
        losses.triplet_semihard_loss(labels, first),
        losses.triplet_semihard_loss(labels, 3.0 * second, margin=0.5),
        losses.npairs_loss(labels, first, second),
        losses.npairs_loss_multilabel(sparse, first, second),
        losses.lifted_struct_loss(labels, first),
    ]
    slopes = [g for value in values[:4] for g in tf.gradients(value, [first, second]) if g is not None]
    return run(tf, *(values + slopes))


@case
def colours_changed_in_yiq(tf):
    distort = inner(tf, "image.python.ops.distort_image_ops")
    image = tf.constant(np.random.RandomState(1).uniform(size=(2, 3, 2, 3)).astype(np.float32))
    few = tf.constant(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))
    values = [distort.adjust_hsv_in_yiq(image, *by) for by in ((), (0.3,), (0, 0.5), (0, 1, 1.5), (-2.0, 0.7, 1.2))]
    still = distort.random_hsv_in_yiq(image, 0.0, 0.5, 0.5, 2.0, 2.0)
    refused = [(-1.0,), (0, 2, 1), (0, 1, 1, 1, 0.5)]
    return [
        *run(tf, *(values + [distort.adjust_hsv_in_yiq(few, 0.3, 0.7, 1.2), still])),
        *[refusal(distort.random_hsv_in_yiq, image, *by) for by in refused],
        refusal(distort.adjust_hsv_in_yiq, image[0, 0]),
    ]


@case
def rows_matched_with_columns(tf):
    far = np.random.RandomState(0).permutation(20).reshape(4, 5).astype(np.float32)
    match = tf.contrib.image.bipartite_match
    asked = [match(far, n) for n in (-1, 0, 2, tf.constant(4.0))] + [match(far.T, -1), match(far, 3, top_k=2)]
    fed = match(tf.placeholder_with_default(far, None), 3)
    return [*run(tf, *[part for pair in asked + [fed] for part in pair]), refusal(match, far[0], 1)]


@case
def images_between_their_places(tf):
    ask = inner(tf, "image.python.ops.dense_image_warp")._interpolate_bilinear
    grid = tf.constant(np.random.RandomState(2).uniform(size=(2, 4, 4, 2)).astype(np.float32))
    places = tf.constant([[[0.0, 0.0], [1.5, 2.25], [5.0, -1.0]], [[0.5, 3.0], [2.0, 3.0], [0.1, 0.2]]])
    turned = tf.contrib.image.transform(grid, [1, 0.2, 0, 0, 1, 0, 0, 0])
    same = inner(tf, "image.ops.gen_image_ops").image_projective_transform(
        grid, tf.constant([[1, 0.2, 0, 0, 1, 0, 0, 0]], tf.float32), interpolation="NEAREST"
    )
    small = refusal(lambda: run(tf, ask(grid[:, :1], places)))
    return [*run(tf, ask(grid, places), ask(grid, places, indexing="xy"), turned, same), small.split(":")[0]] + [
        refusal(ask, grid, places, indexing="a"),
        refusal(ask, grid[0], places),
    ]


@case
def a_step_of_beam_search(tf):
    beams = inner(tf, "seq2seq.python.ops.beam_search_decoder")
    logits = tf.constant(np.random.RandomState(5).normal(size=(2, 3, 5)).astype(np.float32))
    before = beams.BeamSearchDecoderState(
        cell_state=tf.constant(np.arange(12, dtype=np.float32).reshape(2, 3, 2)),
        log_probs=tf.constant([[-0.1, -0.7, -1.0], [-0.3, -0.2, -2.0]]),
        lengths=tf.constant([[2, 1, 2], [2, 2, 1]], tf.int64),
        finished=tf.constant([[False, True, False], [False, False, True]]),
        accumulated_attention_probs=(),
    )
    found = []
    for weight in (0.0, 0.6):
        out, after = beams._beam_search_step(2, logits, before.cell_state, before, tf.constant(2), 3, 0, weight, 0.0)
        found += [*out, after.cell_state, after.log_probs, after.finished, after.lengths]
    kept = tf.constant(np.arange(24, dtype=np.float32).reshape(4, 6))
    parents = tf.constant(np.random.RandomState(6).randint(0, 3, size=(4, 2, 3)).astype(np.int32))
    found.append(beams.gather_tree_from_array(kept, parents, tf.constant([[3, 3, 2], [4, 4, 3]])))
    found.append(beams._mask_probs(logits, 1, before.finished))
    fits = [refusal(lambda t=t: run(tf, beams._check_batch_beam(t, tf.constant(2), 3))) for t in (kept, kept[:, 1:])]
    return run(tf, *found) + [words.split(":")[0] for words in fits]


@case
def losses_of_sequences_as_objects(tf):
    kind = inner(tf, "seq2seq.python.ops.loss").SequenceLoss
    logits = tf.constant(np.random.RandomState(7).normal(size=(2, 3, 4)).astype(np.float32))
    labels, weights = tf.constant([[0, 3, 1], [2, 2, 0]]), tf.constant([[1.0, 0.5, 0.0], [1.0, 1.0, 0.0]])
    ways = [(), (False, False, True, False), (False, False, False, False), (True, True, False, False)]
    return run(tf, *[kind(*way)(labels, logits, weights) for way in ways])


@case
def beliefs_about_a_mean(tf):
    kind = tf.contrib.distributions
    prior = kind.Normal(loc=[1.0, 2.0], scale=[2.0, 3.0])
    found = []
    for ask in (kind.normal_conjugates_known_scale_posterior, kind.normal_conjugates_known_scale_predictive):
        for after in (ask(prior, 1.5, tf.constant([10.0, 3.0]), 4), ask(prior, 0.5, tf.constant(3.0), tf.constant([1, 0]))):
            found += [after.mean(), after.stddev()]
    refused = [refusal(ask, 3, 1.0, 2.0, 3.0), refusal(ask, prior, 1.0, tf.constant(1.0, tf.float64), 3)]
    return run(tf, *found) + refused


@case
def triangles_that_cannot_be_inverted(tf):
    invert = tf.contrib.distributions.bijectors.MatrixInverseTriL(validate_args=True)
    ones = np.ones([2, 2], np.float32)
    asked = [ones, np.tril(ones, -1), ones[0]]
    good = invert.forward(np.stack([np.tril(ones), 2 * np.tril(ones)]))
    return run(tf, good) + [refusal(lambda x=x: run(tf, invert.forward(x))) for x in asked]
