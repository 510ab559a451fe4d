"""A small training run fed by a dataset: shuffled, batched, made ahead, and gone through inside the function.

ebbflow run examples/input_pipeline.py
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
numbers = np.random.RandomState(0)
inputs = numbers.rand(256, 3).astype(np.float32)
targets = inputs @ np.float32([[1.0], [-2.0], [0.5]]) + np.float32(0.25)

dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
batches = dataset.shuffle(64).batch(32, drop_remainder=True).prefetch(2)
print("an element:", batches.element_spec[0])

kernel, bias = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)


@tf.function
def epoch(batches):
    total = 0.0
    for x, y in batches:  # one loop of the graph
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ kernel + bias - y) ** 2)
        for variable, slope in zip([kernel, bias], tape.gradient(loss, [kernel, bias])):
            variable.assign_sub(0.5 * slope)
        total += loss
    return total


losses = [float(epoch(batches)) for _ in range(60)]
print("traced once:", epoch.experimental_get_tracing_count() == 1)
print("kernel:", kernel.numpy().ravel().round(2), "bias:", bias.numpy().round(2))

# The order of a seeded shuffle is TensorFlow's.
print([int(x) for x in tf.data.Dataset.range(10).shuffle(4, seed=1)])

# A Python generator, elements of different lengths, and a loop that stops early.
sentences = ["one", "one two", "one two three four", "one two three"]
lengths = tf.data.Dataset.from_generator(lambda: ([len(s)] * len(s.split()) for s in sentences), tf.int32, [None])
for batch in lengths.padded_batch(2):
    print(batch.numpy().tolist())
