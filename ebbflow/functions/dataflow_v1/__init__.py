"""TF 1's Switch, Merge, Enter, Exit and NextIteration, read into functional nodes; GraphDefs imported."""
