"""`tf.contrib.gan` is the package `tensorflow_gan`, here one that has its form, in processes of their own."""

import pytest

from tests.doors.test_alias import python

FILES = {
    "__init__.py": "import tensorflow as tf\nfrom tensorflow_gan.python import losses\nof = tf.__name__",
    "python/__init__.py": "",
    "python/namedtuples.py": "class GANModel: pass",
    "python/losses/__init__.py": "from tensorflow_gan.python.losses.losses_impl import wargs",
    "python/losses/losses_impl.py": "wargs = 'with arguments'",
}

TOLD = [
    ("tf.contrib.gan.losses.wargs", "with arguments"),
    ("tf.contrib.gan.of", "tensorflow"),
    ("importlib.import_module('tensorflow.contrib.gan').losses.wargs", "with arguments"),
    ("importlib.import_module('tensorflow.contrib.gan.python.losses.python.losses_impl').wargs", "with arguments"),
    ("importlib.import_module('tensorflow.contrib.gan.python.namedtuples').GANModel.__name__", "GANModel"),
    ("hasattr(tf.contrib.gan, 'no_such')", "False"),
]


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "tensorflow_gan" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(tmp_path)


def test_names_are_the_packages(package):
    lines = "\n".join(f"print({expression})" for expression, _ in TOLD)
    told = python(
        f"""
import importlib, sys
sys.path.insert(0, {package!r})
from ebbflow.core.context import enter_v1
from ebbflow.api.namespace import open_door
open_door("tensorflow", "v1", enter_v1)
import tensorflow as tf
{lines}
"""
    )
    assert told == " ".join(value for _, value in TOLD).split()


def test_what_is_missing_is_told():
    told = python(
        """
        import sys
        sys.modules["tensorflow_gan"] = None
        import ebbflow.v1 as tf
        try:
            tf.contrib.gan
        except ModuleNotFoundError as error:
            print(error)
        """
    )
    assert "pip install --no-deps tensorflow-gan==2.1.0" in " ".join(told)
