"""The names of lookup tables."""

BOTH = """
[state.lookup.initializers]
lookup.: KeyValueTensorInitializer TextFileIndex TextFileInitializer
[state.lookup.mutable]
lookup.experimental.DenseHashTable
lookup.experimental.MutableHashTable
"""

V1 = """
[state.lookup.interface]
initialize_all_tables
tables_initializer initializers.tables_initializer
[state.lookup.static]
StaticHashTableV1 as lookup.StaticHashTable
StaticVocabularyTableV1 as lookup.StaticVocabularyTable
"""

V2 = """
[state.lookup.static]
lookup.: StaticHashTable StaticVocabularyTable
"""

CONTRIB = """
[state.lookup.interface]
contrib.lookup.LookupInterface
[state.lookup.initializers]
contrib.lookup.: KeyValueTensorInitializer TableInitializerBase TextFileIdTableInitializer TextFileIndex
contrib.lookup.: TextFileInitializer TextFileStringTableInitializer
[state.lookup.mutable]
DenseHashTable as contrib.lookup.MutableDenseHashTable
contrib.lookup.MutableHashTable
[state.lookup.static]
contrib.lookup.: FastHashSpec HashTable HasherSpec IdTableWithHashBuckets InitializableLookupTableBase StrongHashSpec
[state.lookup.vocabulary]
contrib_index_table_from_tensor as contrib.lookup.index_table_from_tensor
contrib_index_to_string_table_from_tensor as contrib.lookup.index_to_string_table_from_tensor
contrib.lookup.: index_table_from_file index_to_string index_to_string_table_from_file string_to_index
contrib.lookup.: string_to_index_table_from_file string_to_index_table_from_tensor
"""
"""`tf.contrib.lookup`, at the TF 1 door."""

INSIDE = """
[state.lookup.interface]
python.ops.lookup_ops.: LookupInterface check_table_dtypes initialize_all_tables tables_initializer
[state.lookup.initializers]
python.ops.lookup_ops.: KeyValueTensorInitializer TableInitializerBase TextFileIdTableInitializer TextFileIndex
python.ops.lookup_ops.: TextFileInitializer TextFileStringTableInitializer
[state.lookup.mutable]
python.ops.lookup_ops.: DenseHashTable MutableHashTable
[state.lookup.static]
python.ops.lookup_ops.: FastHashSpec HashTable HasherSpec IdTableWithHashBuckets InitializableLookupTableBase
python.ops.lookup_ops.: StaticHashTable StaticHashTableV1 StaticVocabularyTable StaticVocabularyTableV1 StrongHashSpec
[state.lookup.vocabulary]
python.ops.lookup_ops.: index_table_from_file index_table_from_tensor index_to_string_table_from_file
python.ops.lookup_ops.: index_to_string_table_from_tensor
"""
"""What `tensorflow.python.ops.lookup_ops` shows besides ops."""
