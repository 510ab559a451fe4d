"""Machine code of our own: small Programs become loops over elements, which LLVM (through llvmlite) makes fast.

From the ground up: `scalar` writes LLVM's instructions as arithmetic; `coefficients` are the numbers of the
polynomials (tools/native_polynomials.py prints them); `exponential`, `trigonometry` and `power` are the mathematics;
`functions` says which functions there are and puts them into a module. Knows arrays and numbers; knows nothing of
tensors or graphs. llvmlite is optional, and is loaded by the first Program that wants it.
"""
