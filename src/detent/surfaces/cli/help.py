"""What `detent --help` and a missing model print."""

from detent.surfaces.cli.flags import FLAGS

USAGE = """\
detent: a coding agent for the terminal. Every step holds.

  detent -p "make the failing test pass"     one turn, print the answer, exit
  git diff | detent -p "review this"         stdin is context, the prompt the instruction
  detent -p -c "and now the docs"            go on with the newest session of this folder
  detent sessions                            the sessions of this folder
  detent models                              the models that can be used here
  detent trust                               what this folder's files would do; trust them
  detent permissions explain 'Bash(git push)'  what the gate would say, and why
  detent demo                                see it work in a scratch repository
  detent doctor                              what works here, tried out
  detent version                             the version

Flags (--x y and --x=y):
"""

EXIT_CODES = """
Exit codes: 0 done · 1 error · 2 usage · 3 a call was refused for want of permission · 4 budget or
turn limit · 5 incomplete · 6 no answer fitted the schema · 7 model unavailable · 129 hung up ·
130 interrupted · 141 nobody reads the output · 143 terminated
"""


def help_text() -> str:
    lines = []
    for flag in FLAGS:
        if not flag.help:
            continue
        names = ", ".join((*flag.aliases, flag.name) if flag.aliases else (flag.name,))
        label = f"{names} {flag.metavar}".strip()
        pad = " " * (34 - len(label)) if len(label) < 34 else "\n" + " " * 36
        lines.append(f"  {label}{pad}{flag.help}")
    return USAGE + "\n".join(lines) + "\n" + EXIT_CODES
