"""Learners that are ops of their own: clusters, trees, linear models by dual coordinates."""
