"""Where this package lies: whether a frame is ours is asked by its file."""

import os

PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # as __file__ has it, since frames have it so
