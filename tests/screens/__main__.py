"""Writes every shot anew: `PYTHONPATH=tests python -m screens`, or `make screens`."""

from .files import write_all

if __name__ == "__main__":
    for line in write_all():
        print(line)
