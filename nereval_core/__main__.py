"""`python -m nereval_core VERB …` is `nereval VERB …`, the command line of `nereval_core.cli`."""

import sys

from nereval_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
