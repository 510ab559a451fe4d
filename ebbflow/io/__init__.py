"""Files in TensorFlow's formats: records (`records`), event files (`events`), checkpoints of both kinds
(`bundle`, `checkpoint_v1`) and the sorted tables that they are made of (`sorted_table`).

Knows bytes, checksums and messages. Knows nothing of datasets, summaries or training, which write and read through it.
"""
