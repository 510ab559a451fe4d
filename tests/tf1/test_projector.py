"""The file by which TensorBoard's projector finds embeddings."""

import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.tf1 import projector


def test_the_configuration_stands_beside_the_events(tmp_path):
    config = messages.ProjectorConfig()
    embedding = config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(str(tmp_path / "logs"))
        projector.visualize_embeddings(writer, config)
        writer.close()
    text = (tmp_path / "logs" / "projector_config.pbtxt").read_text()
    assert "".join(text.split()) == (
        'embeddings{tensor_name:"words"metadata_path:"words.tsv"sprite{single_image_dim:28single_image_dim:28}}'
    )


def test_a_writer_without_a_folder_is_refused():
    class Writer:
        def get_logdir(self):
            return None

    with pytest.raises(ValueError, match="must have a logdir"):
        projector.visualize_embeddings(Writer(), messages.ProjectorConfig())
