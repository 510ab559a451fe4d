"""Queues and their kin: what several runs of a graph hand to each other."""
