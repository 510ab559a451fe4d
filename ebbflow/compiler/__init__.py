"""How graphs get fast: from nodes to a Flow, through passes, to a Program."""
