"""The command with a fault in it: python -m kill.faulty AT HOW ARGUMENTS…"""

import sys

from detent.surfaces.cli.main import main

from .faults import Layer, Point

if __name__ == "__main__":
    at, how = sys.argv[1:3]
    del sys.argv[1:3]
    Layer(Point(int(at), how)).install()
    sys.exit(main())
