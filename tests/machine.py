"""What tests may skip for: facts of the machine, never a package that is not installed.

Everything that `pip install .[all,test]` brings is expected to be there (`test_environment.py`); without it a test
fails. oneDNN has a wheel for Linux on x86-64 only, and libgomp comes with it. Other platforms have LLVM's code and
NumPy: `EBBFLOW_ENGINES=host,native,xla pytest` is what they run.
"""

import importlib.util
import platform

import pytest

from ebbflow.engines import enabled

HAS_ONEDNN = platform.system() == "Linux" and platform.machine() == "x86_64" and enabled.allowed("onednn")

ONEDNN = pytest.mark.skipif(not HAS_ONEDNN, reason="oneDNN has no wheel for this platform, or is hidden")

KERAS_2 = pytest.mark.skipif(
    importlib.util.find_spec("tf_keras") is None, reason="no extra brings tf_keras, which asks for TensorFlow"
)
