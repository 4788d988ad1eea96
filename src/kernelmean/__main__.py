"""``python -m kernelmean`` is the command ``kernelmean``."""

from kernelmean.cli import main

if __name__ == "__main__":  # not where a process that compiles reads this again
    main()
