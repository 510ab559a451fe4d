"""The names of queues, readers and the threads that feed them."""

BOTH = """
[state.queues.queue]
queue.: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
"""

V1 = """
[state.queues.queue]
FIFOQueue
io.: PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
PaddingFIFOQueue
PriorityQueue
QueueBase
RandomShuffleQueue
"""

V2 = """
"""

INSIDE = """
[state.queues.queue]
python.ops.data_flow_ops.: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
"""
