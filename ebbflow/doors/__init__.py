"""`ebbflow run`: old programs as they are, and what they need of a world that has moved on.

`run` starts a program as python would; `era` reads from its source which TensorFlow it was written for; `vanished`
lends it, and only it, names that NumPy, SciPy and Python have dropped since; `tracebacks` keeps Ebbflow's own lines
out of its errors. `doctor` says what is installed. Knows `api` and `platform`; nothing below knows this room.
"""
