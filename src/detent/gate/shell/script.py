"""A command text as data: what the prover has proven, and what the finder has found."""

from msgspec import Struct


class Word(Struct, frozen=True, gc=False):
    text: str
    """Quotes removed. Where the shell fills something in, it stands as written: `$NAME`."""
    is_literal: bool = True
    """Exactly this text reaches the program, as one word."""
    has_glob: bool = False
    """Unquoted `*`, `?` or `[`: any names of files may stand there, in any number."""
    at_home: bool = False
    """It begins with an unquoted `~`, alone or before a slash: the shell puts the home folder
    there. Such a word is not literal; its text begins with `~`."""


class Redirection(Struct, frozen=True, gc=False):
    writes: bool
    target: Word


class Simple(Struct, frozen=True, gc=False):
    """One simple command: program and arguments, without the assignments before it."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    """`NAME=value` each. With no words they hold for the rest of the text."""
    redirections: tuple[Redirection, ...] = ()
    """Those that open a file; `2>&1` and `/dev/null` are left out. With no words they are those
    of a group or loop, or make and empty files by themselves."""


class Script(Struct, frozen=True, gc=False):
    """A text of which every part is understood: all simple commands that it could run, those in
    substitutions, groups, branches and function bodies included, in the order of the text (a
    substitution before the command that it stands in)."""

    commands: tuple[Simple, ...]


class Findings(Struct, frozen=True, gc=False):
    """All that a text might do, rather too much than too little."""

    commands: tuple[tuple[str, ...], ...]
    """Every possible simple command as words, quotes removed, looked at through wrappers and shells
    as well; each also under the bare name of its program. Variables stand as written."""
    words: tuple[str, ...]
    """Every word that could name a file; globs and variables stand as written."""
    reads: tuple[str, ...] = ()
    """Targets of input redirections."""
    writes: tuple[str, ...] = ()
    """Targets of output redirections."""
    is_open: bool = False
    """It may run more than was found: a program's name is filled in, text is piped into a shell,
    or the text could not be read whole."""
    is_whole: bool = True
    """The text could be read as a tree. Otherwise the commands hold guesses."""
    direct: tuple[tuple[str, ...], ...] = ()
    """The commands of the tree as they stand, without a look behind them."""
