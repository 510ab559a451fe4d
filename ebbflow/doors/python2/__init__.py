"""Python 2 programs on the Python of today: their files are read as Python 2 where they can be nothing else.

`files` decides, for each file of the program, what it is written in; it is all that a program of Python 3 ever loads.
`tokens` and `syntax` bring source into words that Python 3 parses, line by line; `meaning` gives the tree what those
words meant (division, lists, tuples among parameters); `words` are the names that Python 2 had built in, `modules` what
its `import` finds. `constructs` names what is old in a line, for errors. Knows nothing of TensorFlow.
"""
