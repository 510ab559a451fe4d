"""Signals: Fourier and cosine transforms, windows, frames, mel scales."""
