"""Types of programs' own, made of tensors: `tf.experimental.ExtensionType`."""
