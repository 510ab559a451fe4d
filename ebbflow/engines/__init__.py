"""The engines: array work and nothing else. Each offers better kernels than the declared ones, where it is best."""
