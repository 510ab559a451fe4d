"""The names of feature columns, at both doors and inside."""

_ROWS = """
[feature_column.numeric]
{0}.: bucketized_column numeric_column
[feature_column.categorical]
{0}.: categorical_column_with_hash_bucket categorical_column_with_identity categorical_column_with_vocabulary_list
{0}.: weighted_categorical_column
[feature_column.crossed]
{0}.crossed_column
[feature_column.embedding]
{0}.embedding_column
[feature_column.indicator]
{0}.indicator_column
[feature_column.sequence]
{0}.: sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
{0}.: sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list
{0}.: sequence_numeric_column
"""

_V1 = """
[feature_column.categorical]
categorical_column_with_vocabulary_file_v1 as {0}.categorical_column_with_vocabulary_file
[feature_column.first_generation]
{0}.: input_layer linear_model
make_parse_example_spec_v1 as {0}.make_parse_example_spec
[feature_column.embedding]
{0}.shared_embedding_columns
"""

BOTH = _ROWS.format("feature_column")

V1 = _V1.format("feature_column")

V2 = """
[feature_column.categorical]
feature_column.categorical_column_with_vocabulary_file
[feature_column.first_generation]
feature_column.make_parse_example_spec
[feature_column.embedding]
feature_column.shared_embeddings
[feature_column.base]
__internal__.feature_column.: DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn
[feature_column.state]
LayerState as __internal__.feature_column.StateManager
[feature_column.serialization]
deserialize_column as __internal__.feature_column.deserialize_feature_column
serialize_column as __internal__.feature_column.serialize_feature_column
"""

_OLD = """
[feature_column.numeric]
bucketized_column as {0}._bucketized_column
numeric_column as {0}._numeric_column
NumericColumn as {0}._NumericColumn
BucketizedColumn as {0}._BucketizedColumn
[feature_column.categorical]
categorical_column_with_hash_bucket as {0}._categorical_column_with_hash_bucket
categorical_column_with_identity as {0}._categorical_column_with_identity
categorical_column_with_vocabulary_file_v1 as {0}._categorical_column_with_vocabulary_file
categorical_column_with_vocabulary_list as {0}._categorical_column_with_vocabulary_list
weighted_categorical_column as {0}._weighted_categorical_column
HashedCategoricalColumn as {0}._HashedCategoricalColumn
IdentityCategoricalColumn as {0}._IdentityCategoricalColumn
VocabularyFileCategoricalColumn as {0}._VocabularyFileCategoricalColumn
VocabularyListCategoricalColumn as {0}._VocabularyListCategoricalColumn
WeightedCategoricalColumn as {0}._WeightedCategoricalColumn
[feature_column.crossed]
crossed_column as {0}._crossed_column
CrossedColumn as {0}._CrossedColumn
[feature_column.embedding]
embedding_column as {0}._embedding_column
EmbeddingColumn as {0}._EmbeddingColumn
OldSharedEmbeddingColumn as {0}._SharedEmbeddingColumn
[feature_column.indicator]
indicator_column as {0}._indicator_column
IndicatorColumn as {0}._IndicatorColumn
[feature_column.base]
OldFeatureColumn as {0}._FeatureColumn
OldDenseColumn as {0}._DenseColumn
OldCategoricalColumn as {0}._CategoricalColumn
OldSequenceDenseColumn as {0}._SequenceDenseColumn
LazyBuilder as {0}._LazyBuilder
normalized as {0}._normalize_feature_columns
[feature_column.sequence]
SequenceCategoricalColumn as {0}._SequenceCategoricalColumn
[feature_column.first_generation]
{0}.: InputLayer input_layer linear_model
LinearModel as {0}._LinearModel
make_parse_example_spec_v1 as {0}.make_parse_example_spec
transformed_v1 as {0}._transform_features
"""

_NEW = (
    _ROWS.replace("{0}.sequence_numeric_column", "").replace("{0}.: sequence_numeric_column\n", "")
    + """
[feature_column.numeric]
{0}.: BucketizedColumn NumericColumn
[feature_column.categorical]
{0}.: HashedCategoricalColumn IdentityCategoricalColumn VocabularyFileCategoricalColumn VocabularyListCategoricalColumn
{0}.: WeightedCategoricalColumn
categorical_column_with_vocabulary_file_v1 as {0}.categorical_column_with_vocabulary_file
categorical_column_with_vocabulary_file as {0}.categorical_column_with_vocabulary_file_v2
[feature_column.crossed]
{0}.CrossedColumn
[feature_column.embedding]
{0}.: EmbeddingColumn SharedEmbeddingColumn SharedEmbeddingColumnCreator shared_embedding_columns
shared_embeddings as {0}.shared_embedding_columns_v2
[feature_column.indicator]
{0}.IndicatorColumn
[feature_column.base]
{0}.: CategoricalColumn DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn is_feature_column_v2
normalized as {0}._normalize_feature_columns
[feature_column.state]
{0}.StateManager
LayerState as {0}._StateManagerImpl
[feature_column.sequence]
{0}.SequenceCategoricalColumn
[doors.column_layers]
{0}.LinearModel
LinearModelLayer as {0}._LinearModelLayer
[feature_column.first_generation]
make_parse_example_spec as {0}.make_parse_example_spec_v2
transformed_v2 as {0}._transform_features_v2
"""
)

_SEQUENCE = """
[feature_column.sequence]
{0}.: SequenceNumericColumn concatenate_context_input sequence_categorical_column_with_hash_bucket
{0}.: sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file
{0}.: sequence_categorical_column_with_vocabulary_list sequence_numeric_column
"""

INSIDE = (
    _OLD.format("python.feature_column.feature_column")
    + _NEW.format("python.feature_column.feature_column_v2")
    + _NEW.format("python.feature_column.feature_column_lib")
    + _SEQUENCE.format("python.feature_column.sequence_feature_column")
    + _SEQUENCE.format("python.feature_column.feature_column_lib")
    + """
[doors.column_layers]
python.feature_column.feature_column_lib.: DenseFeatures SequenceFeatures
python.feature_column.dense_features.DenseFeatures
DenseFeaturesV2 as python.feature_column.dense_features_v2.DenseFeatures
python.feature_column.sequence_feature_column.SequenceFeatures
[feature_column.first_generation]
python.feature_column.feature_column_lib.: InputLayer input_layer linear_model
make_parse_example_spec_v1 as python.feature_column.feature_column_lib.make_parse_example_spec
[feature_column.base]
python.feature_column.feature_column_v2_types.FeatureColumn
[feature_column.serialization]
serialize_column as python.feature_column.serialization.serialize_feature_column
deserialize_column as python.feature_column.serialization.deserialize_feature_column
python.feature_column.serialization.: deserialize_feature_columns serialize_feature_columns
name_with_class as python.feature_column.serialization._column_name_with_class_name
register_column as python.feature_column.serialization.register_feature_column
[feature_column.checks]
python.feature_column.utils.sequence_length_from_sparse_tensor
key_string as python.feature_column.utils.assert_key_is_string
string_or_integer as python.feature_column.utils.assert_string_or_int
check_default_value as python.feature_column.utils.check_default_value
"""
)
"""What `tensorflow.python.feature_column` shows."""

CONTRIB = """
[feature_column.sequence]
contrib.feature_column.: sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
contrib.feature_column.: sequence_categorical_column_with_vocabulary_file
contrib.feature_column.: sequence_categorical_column_with_vocabulary_list sequence_numeric_column
contrib.feature_column.python.feature_column.sequence_feature_column.concatenate_context_input
[feature_column.sequence_input]
contrib.feature_column.sequence_input_layer
"""
"""`tf.contrib.feature_column`, at the TF 1 door."""
