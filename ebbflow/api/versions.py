"""Version numbers: what each door says it is, because programs compare `tf.__version__`, and Ebbflow's own.

Knows no other room. The build reads `EBBFLOW` from here.
"""

EBBFLOW = "0.1.0"

V2 = "2.21.0"
V1 = "1.15.5"
V2_OF_ONE_DIGIT = "2.9.3"
V1_OF_ONE_DIGIT = "1.9.0"
"""For programs that compare versions as text, to which 2.21 is older than 2.4."""

GIT_V2 = "v2.21.0-ebbflow"
GIT_V1 = "v1.15.5-ebbflow"
COMPILER_VERSION = "Python"

GRAPH_DEF_VERSION_V1 = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
