"""Assertions about values, shapes and types, and showing values while a program runs."""
