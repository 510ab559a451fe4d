"""Gradients while ops run: the tape, backpropagation, forward mode, custom gradients."""
