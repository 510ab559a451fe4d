"""Queues, accumulators and staging areas as programs use them."""
