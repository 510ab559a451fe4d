"""Ebbflow beside its peers, on the same work."""
