"""``python -m kernelmean`` is the command ``kernelmean``."""

from kernelmean.cli import main

main()
