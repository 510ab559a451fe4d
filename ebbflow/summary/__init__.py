"""What TensorBoard shows: summaries of arrays as messages, and the writers and ops that put them into event files.

`encode` turns arrays into `Summary` messages and knows nothing else; ops and writers stand on it.
"""
