"""oneDNN: Intel's library of primitives for neural nets, bound with ctypes; no compiler is needed.

From the ground up: `library` finds, loads and tames it (instruction sets, threads, forks); `binding` is its C
interface, as far as it is used; `chain` runs primitives on arrays; `conv`, `pool`, `norm`, `matmul`, `softmax`,
`eltwise` and `layout` plan them for given shapes; `register` says which ops they serve and from which size on. A
planner returns a `Plan` (what to call, and the shapes of its results) or None where oneDNN would not serve: the op's
own kernel does then, and says what is wrong where something is. Knows arrays and the ops' names; knows nothing of
tensors or graphs. The library is loaded by the first call that is large enough, not by importing this.
"""
