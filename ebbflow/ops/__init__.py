"""The operations, one file a family. Every op is declared once: interface, shape rule, kernel, gradient."""
