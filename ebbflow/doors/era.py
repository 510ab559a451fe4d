"""Which TensorFlow a program was written for, read from its source without running it.

Looks at the names used through `tensorflow`, in the script and in the modules of its own directory that it imports.
Names that only one era had decide; the more of them, the surer; nothing to go by, or a draw, means TF 2. Source that
is neither Python 3 nor Python 2 is searched as text.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ebbflow.api import versions
from ebbflow.doors.python2 import files

ROOT = "tensorflow"
PREFIX = "x.y"
"""Stands for a program that reads a version's first three letters, `tf.__version__[:3]`, as a number."""
MOST_FILES = 500

_FIRST = """
    AUTO_REUSE ConfigProto FIFOQueue FixedLenFeature FixedLenSequenceFeature GPUOptions GraphDef GraphKeys
    InteractiveSession MetaGraphDef NodeDef OptimizerOptions Print RunMetadata RunOptions Session Summary
    TFRecordReader TextLineReader VarLenFeature WholeFileReader add_to_collection all_variables app assign assign_add
    assign_sub batch_matmul contrib count_nonzero decode_csv decode_raw diag div enable_eager_execution
    enable_resource_variables examples flags get_collection get_default_graph get_default_session get_variable
    get_variable_scope gfile global_variables global_variables_initializer initialize_all_variables
    initialize_local_variables initialize_variables is_nan layers local_variables local_variables_initializer log
    logging make_template matrix_inverse merge_all_summaries merge_summary mod models mul multinomial neg pack
    parse_example parse_single_example placeholder placeholder_with_default py_func python_io random_crop
    random_normal random_shuffle random_uniform read_file reset_default_graph scalar_summary histogram_summary
    image_summary set_random_seed sparse_tensor_to_dense sparse_to_dense string_split sub tables_initializer to_float
    to_int32 to_int64 trainable_variables truncated_normal truncated_normal_initializer unpack
    variable_axis_size_partitioner variable_scope variables_initializer data.make_initializable_iterator
    data.make_one_shot_iterator estimator.inputs feature_column.input_layer graph_util.convert_variables_to_constants
    image.resize_bicubic image.resize_bilinear image.resize_image_with_crop_or_pad image.resize_images
    image.resize_nearest_neighbor losses.absolute_difference losses.add_loss losses.compute_weighted_loss
    losses.get_regularization_losses losses.get_total_loss losses.huber_loss losses.log_loss losses.mean_squared_error
    losses.sigmoid_cross_entropy losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy metrics.accuracy
    metrics.auc metrics.mean metrics.precision metrics.recall nn.bidirectional_dynamic_rnn nn.dynamic_rnn nn.rnn
    nn.rnn_cell nn.softmax_cross_entropy_with_logits_v2 nn.static_rnn nn.xw_plus_b saved_model.builder
    saved_model.loader saved_model.simple_save summary.FileWriter summary.merge summary.merge_all
    train.AdadeltaOptimizer train.AdagradOptimizer train.AdamOptimizer train.FtrlOptimizer
    train.GradientDescentOptimizer train.MomentumOptimizer train.MonitoredSession train.MonitoredTrainingSession
    train.NewCheckpointReader train.Optimizer train.RMSPropOptimizer train.Saver train.SessionRunHook
    train.SummaryWriter train.Supervisor train.SyncReplicasOptimizer train.batch train.exponential_decay
    train.get_global_step train.get_or_create_global_step train.import_meta_graph train.piecewise_constant
    train.polynomial_decay train.replica_device_setter train.shuffle_batch train.start_queue_runners
    train.string_input_producer
"""

FIRST = set(_FIRST.split())
"""Names that TensorFlow 1 had and TensorFlow 2 has not (a name stands for all below it: `app`, `app.run`)."""

_SECOND = """
    function Module GradientTape compat.v1 compat.v2 optimizers experimental.numpy config.LogicalDeviceConfiguration
    config.list_logical_devices config.list_physical_devices config.run_functions_eagerly
    config.set_logical_device_configuration config.set_visible_devices data.AUTOTUNE
    distribute.MultiWorkerMirroredStrategy distribute.TPUStrategy image.resize_with_pad io.RaggedFeature
    keras.optimizers.Adam nn.gelu nn.silu random.Generator random.normal random.set_seed random.uniform
    saved_model.load saved_model.save summary.create_file_writer summary.record_if summary.trace_export
    summary.trace_on type_spec_from_value
"""

SECOND = set(_SECOND.split())
"""Names that TensorFlow 2 programs use and TensorFlow 1 programs hardly."""

GRAPHS = {f"compat.v1.{name}" for name in ("InteractiveSession", "Session", "placeholder")}
"""Names that want a graph around them, which TensorFlow 1 has always and TensorFlow 2 only where one is asked for."""

_ASKING = """
    Graph disable_eager_execution disable_v2_behavior enable_eager_execution enable_v2_behavior executing_eagerly
    wrap_function
"""

ASKING = {f"compat.v1.{name}" for name in _ASKING.split()}
"""How a program asks for one, or shows that it knows of both."""

_KERAS_2 = """
    fit_generator evaluate_generator predict_generator get_session set_session learning_phase set_learning_phase
    add_variable multi_gpu_model np_utils tensorflow_backend image_dim_ordering set_image_dim_ordering
"""

KERAS_2 = set(_KERAS_2.split())
"""Methods and modules that Keras 2 had and Keras 3 has not."""

SESSIONS = {"get_session", "set_session"}
"""Of these, what only a program of TF 1 has use for, unless it asks `compat.v1` for it."""

OLD_ARGUMENTS = {"lr", "decay"}
OPTIMIZERS = {"Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"}
"""What Keras 3's optimizers are not given any more, and what they are called."""

OLD_METHODS = {"_get_hyper", "_serialize_hyperparameter", "_set_hyper"}
"""What a program's own optimizer calls, if it was written for Keras's until TensorFlow 2.10."""

_KERAS_2_PATHS = """
    applications.regnet applications.resnet_rs backend.function backend.in_test_phase backend.in_train_phase
    backend.learning_phase_scope backend.local_conv1d backend.local_conv2d backend.manual_variable_initialization
    backend.normalize_batch_in_training backend.placeholder backend.print_tensor backend.random_binomial
    backend.reset_uids callbacks.BaseLogger callbacks.experimental constraints.RadialConstraint
    constraints.radial_constraint layers.AbstractRNNCell layers.DenseFeatures layers.LocallyConnected1D
    layers.LocallyConnected2D losses.kl_divergence losses.log_cosh losses.mean_absolute_error
    losses.mean_absolute_percentage_error losses.mean_squared_error losses.mean_squared_logarithmic_error
    metrics.MeanRelativeError metrics.MeanTensor metrics.experimental metrics.kl_divergence metrics.log_cosh
    metrics.mean_absolute_error metrics.mean_absolute_percentage_error metrics.mean_squared_error
    metrics.mean_squared_logarithmic_error models.experimental models.model_from_config models.model_from_yaml
    optimizers.experimental
    utils.GeneratorEnqueuer utils.OrderedEnqueuer utils.SequenceEnqueuer utils.experimental
"""

KERAS_2_PATHS = {f"keras.{name}" for name in _KERAS_2_PATHS.split()}
"""Public names that tf_keras has and Keras 3 has not."""

OLD_PLACES = (
    "keras.layers.experimental", "keras.experimental", "keras.estimator", "python.keras",
    "keras.engine", "keras.objectives", "keras.wrappers", "keras.legacy", "keras.layers.core",
    "keras.optimizers.legacy", "keras.mixed_precision.experimental",
    "keras.layers.convolutional", "keras.layers.recurrent", "keras.layers.normalization", "keras.layers.embeddings",
    "keras.layers.advanced_activations", "keras.layers.merge", "keras.layers.pooling", "keras.layers.wrappers",
    "keras.layers.noise", "keras.layers.local", "keras.utils.vis_utils", "keras.utils.generic_utils",
    "compat.v1.Session", "compat.v1.InteractiveSession", "compat.v1.placeholder", "compat.v1.keras",
    "compat.v1.disable_eager_execution", "compat.v1.disable_v2_behavior", "compat.v1.get_default_session",
)  # fmt: skip
"""Paths, below `tensorflow` or `keras` itself, that speak for Keras 2."""


@dataclass
class Era:
    """What was found: the names that speak for each era, and the files that were read."""

    first: set[str] = field(default_factory=set)
    second: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)  # every module the program imports, by full name
    keras_2: set[str] = field(default_factory=set)  # what speaks for Keras 2
    compared: set[str] = field(default_factory=set)  # what the program compares `tf.__version__` with, as text
    stops: set[str] = field(default_factory=set)  # files that Python 3 cannot run, being Python 2
    graphs: set[str] = field(default_factory=set)  # of GRAPHS and ASKING, what it uses

    @property
    def number(self) -> int:
        """1 or 2."""
        if any(name.split(".")[0] == "contrib" for name in self.first):
            return 1  # nothing else ever had tf.contrib
        if self.graphs and self.graphs <= GRAPHS and self.second == {"compat.v1"} and ROOT not in self.modules:
            return 1  # written for 1.15 under the name that would last, never run on TF 2: it has no graph there
        sessions = set() if "compat.v1" in self.second else self.keras_2 & SESSIONS
        return 1 if len(self.first | sessions) > len(self.second) else 2

    @property
    def keras(self) -> int | None:
        """2 where the program uses what only Keras 2 has, or was right only until TF 2.9; None where nothing tells."""
        return 2 if self.keras_2 or self.misled(versions.V2) else None

    def misled(self, version: str) -> bool:
        """Whether this version, compared as text as the program does, is in another place than among the releases."""
        return any(other == PREFIX or (version < other) != (_parts(version) < _parts(other)) for other in self.compared)

    @property
    def old_optimizers(self) -> bool:
        """Whether optimizers are made as they were until TensorFlow 2.10."""
        if self.keras_2 & OLD_METHODS and "keras.optimizers.legacy" not in self.keras_2:
            return True
        return bool(self.keras_2 & {f"{name}=" for name in OLD_ARGUMENTS})

    def add(self, names: Iterable[str]) -> None:
        """Take names used through `tensorflow`, without that word."""
        for name in names:
            parts = name.split(".")
            starts = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
            self.keras_2 |= starts & (KERAS_2_PATHS | set(OLD_PLACES))
            self.graphs |= starts & (GRAPHS | ASKING)
            self.first |= starts & FIRST
            self.second |= starts & SECOND

    def __str__(self) -> str:
        said = {1: self.first or self.graphs, 2: self.second}[self.number]
        reasons = ", ".join(sorted(f"tf.{name}" for name in said)[:5]) or "nothing speaks for TF 1"
        return f"TF {self.number} ({reasons})"


def of_source(source: str | bytes) -> Era:
    """Return the era of one piece of source.

    >>> of_source("import tensorflow as tf; tf.Session()").number, of_source("import tensorflow.compat.v1 as tf").number
    (1, 2)
    """
    era = Era()
    _read(source, era)
    return era


def of_program(script: str | Iterable[str], path: Iterable[str] = ()) -> Era:
    """Return the era of a script (or some) and the modules of its own that it imports, found on `path`."""
    era = Era()
    waiting = [os.path.abspath(file) for file in ([script] if isinstance(script, str) else script)]
    directories = [*map(os.path.dirname, waiting), *path]
    while waiting and len(era.files) < MOST_FILES:
        file = waiting.pop()
        if file in era.files:
            continue
        era.files.append(file)
        try:
            with open(file, "rb") as stream:
                source = stream.read()
        except OSError:
            continue
        imported = set(_read(source, era, file))
        if file in era.stops or files.stops(source, file):
            era.stops.add(file)
        waiting += [found for name in sorted(imported) if (found := own_file(name, directories)) is not None]
    return era


def own_file(module: str, directories: Iterable[str]) -> str | None:
    """Return the source of a module, if one of the directories has it."""
    if os.path.isabs(module):  # a relative import, already followed
        places = [module]
    else:
        places = [os.path.join(directory, *module.split(".")) for directory in directories]
    for place in places:
        for candidate in (place + ".py", os.path.join(place, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
    return None


def _read(source: str | bytes, era: Era, file: str = "") -> list[str]:
    """Add what a source says to `era`; return the modules it imports."""
    imported = _read_names(source, era, file)
    era.modules |= set(imported)
    return imported


def _read_names(source: str | bytes, era: Era, file: str) -> list[str]:
    package = os.path.dirname(file)
    beside: list[str] = []  # Python 2 looks in the importer's package first
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        translated = files.parsed(source)
        if translated is None:
            return _read_text(source, era)
        era.stops |= {file} if files.is_python2(source) else set()
        tree = translated
        beside = [
            os.path.join(package, *name.split(".")) for name in _imports(tree, package) if not os.path.isabs(name)
        ]
    names, imported = _names(tree), [*_imports(tree, package), *beside]
    era.add(names)
    if any(name.endswith("__version__") for name in names):
        era.compared |= set(_compared(tree))
    if any(name.partition(".")[0] in ("keras", ROOT) for name in imported):
        era.keras_2 |= set(_keras_2(tree))
        era.keras_2 |= {name for name in imported if name.startswith(OLD_PLACES)}
        era.keras_2 |= KERAS_2_PATHS & {f"keras.{name}" for name in _names(tree, "keras")}
    return imported


def _compared(tree: ast.AST) -> Iterator[str]:
    """Yield the texts that a `__version__` is compared with; PREFIX where its first letters are taken for a number."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and _is_version(node.value)]
    names = {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            sides = [node.left, *node.comparators]
            if any(_is_version(side) or (isinstance(side, ast.Name) and side.id in names) for side in sides):
                yield from (s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.lower is None:
            upper = node.slice.upper
            if _is_version(node.value) and isinstance(upper, ast.Constant) and upper.value == len(PREFIX):
                yield PREFIX


def _is_version(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__version__"


def _parts(version: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", version)]


def _keras_2(tree: ast.AST) -> Iterator[str]:
    """Yield what in a tree only Keras 2 had: methods, and arguments of optimizers."""
    metrics = set(_metrics(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in KERAS_2 | OLD_METHODS:
            yield node.attr
        elif isinstance(node, ast.Attribute) and node.attr == "reset_states" and ast.unparse(node.value) in metrics:
            yield "metric.reset_states"  # which recurrent layers still have
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.name in KERAS_2)
        elif isinstance(node, ast.Call):
            called = _chain(node.func) or [""]
            if called[-1] in OPTIMIZERS:
                yield from (f"{word.arg}=" for word in node.keywords if word.arg in OLD_ARGUMENTS)
            elif called[-1] == "Input":
                constants = [word.value for word in node.keywords if word.arg == "shape"]
                yield from (
                    "Input(shape=int)" for c in constants if isinstance(c, ast.Constant) and type(c.value) is int
                )


def _metrics(tree: ast.AST) -> Iterator[str]:
    """Yield what a tree calls metrics: what it makes of classes of `metrics`, and what it finds in a list of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if "metrics" in _chain(node.value.func)[:-1]:
                yield from map(ast.unparse, node.targets)
        elif isinstance(node, ast.For) and _chain(node.iter)[-1:] == ["metrics"]:
            yield ast.unparse(node.target)


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                place = package
                for _ in range(node.level - 1):
                    place = os.path.dirname(place)
                base = os.path.join(place, *base.split(".")) if base else place
                yield from [base, *(os.path.join(base, alias.name) for alias in node.names)]
            else:
                yield from [base, *(f"{base}.{alias.name}" for alias in node.names)]


def _names(tree: ast.AST, root: str = ROOT) -> set[str]:
    """Return every dotted name that a tree reaches through a package, under whatever names it was imported."""
    known: dict[str, set[str]] = {}  # a name in the program -> what it may be, below the package
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, _, rest = alias.name.partition(".")
                if first == root:
                    found.add(rest)
                    known.setdefault(alias.asname or root, set()).add(rest if alias.asname else "")
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            first, _, rest = node.module.partition(".")
            if first == root:
                for alias in node.names:
                    full = f"{rest}.{alias.name}" if rest else alias.name
                    found.add(full)
                    known.setdefault(alias.asname or alias.name, set()).add(full)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain = _chain(node)
            if chain and chain[0] in known:
                for start in known[chain[0]]:
                    found.add(".".join(filter(None, [start, *chain[1:]])))
    return found - {""}


def _chain(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


_WORDS = re.compile(r"\b(?:tf|tensorflow)\.([A-Za-z_][\w.]*)")
_FROM = re.compile(r"^\s*from\s+tensorflow(?:\.([\w.]+))?\s+import\s+([\w, ]+)", re.MULTILINE)
_PLAIN = re.compile(r"^\s*(?:import|from)\s+([\w.]+)", re.MULTILINE)


def _read_text(source: str | bytes, era: Era) -> list[str]:
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    text = re.sub(r"#.*", "", text)
    as_tf = re.findall(r"import\s+tensorflow\.([\w.]+)\s+as\s+tf\b", text)
    start = as_tf[0] + "." if as_tf else ""
    names = {start + name for name in _WORDS.findall(text)}
    for base, imported in _FROM.findall(text):
        names |= {f"{base}.{name.split()[0]}".lstrip(".") for name in imported.split(",") if name.strip()}
    era.add(names)
    return _PLAIN.findall(text)
