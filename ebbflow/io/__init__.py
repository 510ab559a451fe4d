"""Files in TensorFlow's formats: records (`records`), event files (`events`).

Knows bytes, checksums and messages. Knows nothing of datasets, summaries or training, which write and read through it.
"""
