"""Arrays made, reshaped, joined, cut, indexed, ordered: ops that move elements and compute none."""
