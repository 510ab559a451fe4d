"""Lookup tables: from keys to values."""
