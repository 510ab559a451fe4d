"""XLA, through `jax`: what ops are in its words, executables made of them, and the devices it brings.

`lower` says an op in jax (by its own kernel where that serves `jax.numpy`, else by a lowering from one of the
`lowerings_…` files); `executable` compiles a region of nodes and calls it on NumPy arrays; `refusal` says in words why
something cannot be compiled; `devices` lists what there is to run on. Knows ops and arrays. Knows nothing of graphs,
sessions or the compiler's passes: a region is whatever has inputs, nodes and outputs. jax is heavy and optional: it is
imported when something is first compiled, never before (`library`).
"""
