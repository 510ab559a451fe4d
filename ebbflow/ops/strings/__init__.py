"""Strings: numbers as text, texts joined."""
