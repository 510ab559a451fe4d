"""Functions of scalars as machine code: exponentials, powers, circles, quotients."""
