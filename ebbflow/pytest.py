"""A plugin for pytest: `pytest -p ebbflow.pytest` runs tests of TensorFlow programs with Ebbflow as `tensorflow`."""

from ebbflow.doors import alias

alias.install()
