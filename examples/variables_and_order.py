"""What variables do in a graph: nothing runs until a session runs it, and order must be asked for.

ebbflow run examples/variables_and_order.py
"""

import tensorflow as tf

w = tf.Variable(10)
print(w)  # a symbol, not 10
with tf.Session() as sess:
    try:
        sess.run(w)
    except tf.errors.FailedPreconditionError as error:
        print("FailedPreconditionError:", str(error).splitlines()[0])
    sess.run(w.initializer)
    w.assign(100)  # only adds a node to the graph
    print(sess.run(w))  # 10
    sess.run(w.assign(100))
    print(sess.run(w))  # 100

x, y = tf.Variable(1.0), tf.Variable(1.0)
add_op = x.assign(x + y)
with tf.control_dependencies([add_op]):  # without this the two may run in either order
    div_op = y.assign(y / 2)
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for _ in range(50):
        sess.run([add_op, div_op])
    print(sess.run(x))  # 3.0

a = tf.placeholder(tf.float32, shape=[3])
with tf.Session() as sess:
    print(sess.run(tf.add(a, tf.constant([5, 5, 5], tf.float32)), {a: [1, 2, 3]}))  # [6. 7. 8.]
