"""The cpu engine with any number of threads, and sizes at the seams of its blocks."""

import kernelmean as km
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu.blocks import width

THREADS = (1, 2, 3, 5)
SIZES = (
    1,
    2,
    255,
    256,
    257,
    4095,
    4096,
    5000,
)  # from 4096 points on, low dimensions are sorted into a tree

naive = km.engines.open("naive")
engines = {f"cpu-{count}": km.engines.open("cpu", threads=count) for count in THREADS}


def sizes(d):
    """The seams of a block and, last, more than one chunk of blocks."""
    B = width(d)
    return sorted({*SIZES, B - 1, B, B + 1, loops.CHUNK * B + 57})
