"""Small TensorFlow programs, and what TensorFlow itself said when it ran them.

Each program is a plain function of `tf`, so the very same lines run in TensorFlow (`tools/record/programs.py`, which
writes the recordings beside these files) and in Ebbflow (the `test_golden_*` replays). The files here must stay
readable by Python 3.7, the newest that TensorFlow 1.15 runs on, and import nothing but NumPy and each other.
"""
