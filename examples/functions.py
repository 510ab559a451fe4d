"""Python functions compiled into graphs: one decorator, any kind of argument, Python's own control flow.

ebbflow run examples/functions.py
"""

import tensorflow as tf

tf.get_logger().setLevel("ERROR")  # else each new kind of argument is announced, with what has changed


@tf.function
def add(a, b):
    return a + b


# A function is polymorphic: each new kind of argument gets a graph of its own.
print(add(tf.ones([2, 2]), tf.ones([2, 2])).numpy().tolist())
print(add(1, 2).numpy(), add(1.5, 2.0).numpy(), add(tf.constant("ten"), tf.constant("sor")).numpy())


# `while` on a tensor becomes a loop in the graph, and can be differentiated.
@tf.function
def f(x):
    while tf.reduce_sum(x) > 1:
        x = tf.tanh(x)
    return x


x = tf.constant([0.9, 0.8, 0.7])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
print("sum:", tf.reduce_sum(y).numpy().round(4), "gradient:", tape.gradient(y, x).numpy().round(4))


# A loop over a Python range is unrolled while tracing; one over a tensor is part of the graph.
def ops_in(function):
    return len(function.get_concrete_function(tf.constant(1)).graph.get_operations())


@tf.function
def unrolled(x):
    for i in range(10):
        x += i
    return x


@tf.function
def looped(x):
    for i in tf.range(10):
        x += i
    return x


print("the same:", unrolled(tf.constant(1)).numpy() == looped(tf.constant(1)).numpy())
print("the loop is smaller:", ops_in(looped) < ops_in(unrolled))

# Eager code and graphs stand side by side.
print("eager outside:", tf.executing_eagerly())
with tf.Graph().as_default():
    print("eager in a graph:", tf.executing_eagerly())
    z = add(tf.constant(20), tf.constant(22))
    with tf.compat.v1.Session() as sess:
        print("from a session:", sess.run(z))
