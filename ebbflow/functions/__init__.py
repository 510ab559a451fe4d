"""Functions: graphs with arguments and results, and the ops that call them."""
