"""`tf.test`: test cases for programs that use tensors, gradients checked by differences, and decorators for both modes.

Stands above every room that makes or runs ops; no room imports it.
"""
