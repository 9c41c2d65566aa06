"""``python -m farside.cli`` is ``farside``."""

import sys

from farside.cli import main

if __name__ == "__main__":
    sys.exit(main())
