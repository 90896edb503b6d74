"""``python -m gpuplan.cli``."""

import sys

from gpuplan.cli import main

sys.exit(main())
