"""SavedModels of both eras: graphs and objects with their variables and files, as folders that TensorFlow reads."""
