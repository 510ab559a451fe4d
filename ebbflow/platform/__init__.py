"""What a program expects of its surroundings: flags, logging, files, devices, versions, decorators.

Stands right above `core` and imports nothing else of Ebbflow. No ops here: nothing in this room makes a tensor.
"""
