"""State: variables in both worlds, variable scopes, initializers, regularizers, partitioners."""
