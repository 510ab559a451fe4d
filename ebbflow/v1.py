"""The TF 1 door: `import ebbflow.v1 as tf`.

Going through it gives the whole process TF 1's manners (graphs by default, reference variables, `Dimension`s), as
importing TensorFlow 1 would. `ebbflow.compat.v1` has the same names without that effect.
"""

from ebbflow.api.namespace import open_door
from ebbflow.core.context import enter_v1

open_door(__name__, "v1", enter_v1)
del open_door, enter_v1
