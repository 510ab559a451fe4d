"""Machine code of our own: regions of Programs become loops, which LLVM (through llvmlite) makes fast.

A region goes through four rooms. `lowering` takes its nodes and says what each is made of (`values`: memory, or a way
to compute an element), by rows: `elementwise`, `structure`, `arrangement`, `reductions`, `scans`, `matmul`, `division`,
`updates`, `loops`, `convolution` (by `winograd`); `limits` says beforehand where they do not serve. That gives `steps`;
`schedule` says which of them share a loop and how much memory they need, `shares` how threads divide a loop of turns;
`parts` writes functions of them, `threads` has them run side by side, and `kernel` puts the checks in front.
`text` is how instructions are written, `symbols` what they refer to outside, `library` is LLVM, `objects` what of it is
kept on disk.

Functions of mathematics: `scalar` writes instructions as arithmetic; `coefficients` are the numbers of the polynomials
(tools/native_polynomials.py prints them); `exponential`, `trigonometry` and `power` are the mathematics; `functions`
says which there are. Knows arrays, numbers and nodes; knows nothing of tensors or graphs. llvmlite is optional, and is
loaded by the first region that wants it.
"""
