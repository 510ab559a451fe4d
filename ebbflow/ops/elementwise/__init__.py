"""Functions of numbers, element by element: of one (`unary`), of two (`binary`), comparisons, casts, activations."""
