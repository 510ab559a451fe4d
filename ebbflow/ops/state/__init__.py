"""What keeps a value between calls: variables, optimizers' updates, lists and arrays of tensors, mutexes."""
