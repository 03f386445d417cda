"""A shell text as the grammar of tree-sitter sees it: commands, words and redirections.

The grammar has known gaps: it may lose what follows a here-document, and backticks inside `${…}`.
So the text's own marks of a substitution are counted as well, and what the tree does not show
makes the reading not whole.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from detent.gate.shell.spelling import Spelled, spelled

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

FREE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"})
_JOINING = frozenset({"pipeline", "list", "negated_command", "redirected_statement"})
_TESTING = frozenset({"unary_expression", "binary_expression", "parenthesized_expression",
                      "ternary_expression", "test_operator", "postfix_expression"})  # fmt: skip
_HOLDING = frozenset({"program", "list", "pipeline", "subshell", "compound_statement", "do_group",
                      "if_statement", "elif_clause", "else_clause", "while_statement", "case_item",
                      "negated_command", "command_substitution",
                      "process_substitution"})  # fmt: skip
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_LITERAL = frozenset({"raw_string", "comment", "ansi_c_string"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})
_MARKS = rb"`|\$\(|[<>]\("


@cache
def _parser() -> "Parser":
    """Loaded with the first command: 24 ms that no other run pays."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class Tree:
    """One reading of a text."""

    def __init__(self, text: str) -> None:
        self.commands: list[tuple[Spelled, ...]] = []
        self.words: list[str] = []
        self.substituted: list[str] = []
        """What stands inside of substitutions."""
        self.fed: list[str] = []
        """Here-documents and here-strings: what a command is given to read."""
        self.reads: list[str] = []
        self.writes: list[str] = []
        self._source = text.encode("utf-8", "replace")
        self._extra: dict[int, list[Spelled]] = {}
        self._accounted: set[int] = set()
        self._covered: list[tuple[int, int]] = []
        root = _parser().parse(self._source).root_node
        self.is_whole = not root.has_error
        self._walk(root)
        self.is_whole = self.is_whole and self._accounts_for_all()

    def _walk(self, root: "Node") -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = node.type
            if kind == "redirected_statement":
                self._redirected(node)
            elif kind in ("command", "declaration_command", "unset_command", "test_command"):
                self._command(node)
            elif kind in ("file_redirect", "herestring_redirect"):
                self._file(node)
            elif kind in _SUBSTITUTIONS:
                self._substitution(node)
            elif kind == "compound_statement":
                self._group(node)
            elif kind in _LITERAL:
                self._covered.append((node.start_byte, node.end_byte))
            elif kind == "heredoc_redirect":
                self._here(node)
            elif kind in ("for_statement", "variable_assignment", "case_statement"):
                self.words += (self._word(child).text for child in node.named_children)
            children = node.children
            if kind in _HOLDING:
                self._check_gaps(node, children)
            stack.extend(reversed(children))

    def _spelled(self, start: int, end: int) -> Spelled:
        return spelled(self._source[start:end].decode("utf-8", "replace"))

    def _word(self, node: "Node") -> Spelled:
        return self._spelled(node.start_byte, node.end_byte)

    def _command(self, node: "Node") -> None:
        words: list[Spelled] = []
        parts = node.children
        if any(part.type in _TESTING for part in parts):
            parts = _leaves(parts)
        start, end = -1, node.start_byte
        for part in parts:
            kind = part.type
            if self._gap(end, part.start_byte):
                self.is_whole = False  # the tree has lost a word
            if kind in _REDIRECTS or (
                kind == "variable_assignment" and node.type == "command" and not words
            ):
                start = -1
            elif part.start_byte == end and start >= 0:
                words[-1] = self._spelled(start, part.end_byte)  # one word in several parts
            else:
                start = part.start_byte
                words.append(self._spelled(start, part.end_byte))
            end = part.end_byte
            if kind == "word" and re.search(rb"(?<!\\)[ \t\n]", self._source[start:end]):
                self.is_whole = False  # the tree took two words for one
        words += self._extra.pop(node.id, ())
        if words:
            self.commands.append(tuple(words))
            self.words += (word.text for word in words)

    def _gap(self, start: int, end: int) -> bytes:
        """What stands between two parts of the tree, but for blanks."""
        return self._source[start:end].replace(b"\\\n", b"").strip(b" \t\n")

    def _check_gaps(self, node: "Node", children: list["Node"]) -> None:
        """Words that the tree has lost between two parts."""
        end = node.start_byte
        for child in children:
            if self._gap(end, child.start_byte):
                self.is_whole = False
            end = child.end_byte

    def _redirected(self, node: "Node") -> None:
        """Words behind a redirection belong to the command before it; a `-` right before one is
        not in the tree."""
        first, second = (*node.children, node)[:2]
        lost = self._gap(first.end_byte, second.start_byte)
        if re.fullmatch(rb"-+", lost) is None and lost:
            self.is_whole = False
        extra = [spelled(lost.decode())] if lost else []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "file_redirect":
                extra += map(self._word, redirect.children_by_field_name("destination")[1:])
            elif redirect.type == "heredoc_redirect":
                extra += map(self._word, redirect.children_by_field_name("argument"))
                for inner in redirect.children_by_field_name("redirect"):
                    if inner.type == "file_redirect":
                        more = inner.children_by_field_name("destination")[1:]
                        extra += map(self._word, more)
        if not extra:
            return
        target = node.child_by_field_name("body")
        while target is not None and target.type in _JOINING:
            body = target.child_by_field_name("body")
            target = body or next(reversed(target.named_children), None)
        if target is None:
            self.is_whole = False
        else:
            self._extra.setdefault(target.id, []).extend(extra)

    def _substitution(self, node: "Node") -> None:
        start, end = node.start_byte, node.end_byte
        self._accounted.update((start, end - 1))
        if node.type != "arithmetic_expansion":
            inner = self._source[start:end].lstrip(b"$<>(`").rstrip(b")`")
            self.substituted.append(inner.decode("utf-8", "replace"))

    def _group(self, node: "Node") -> None:
        """A brace right before other text is part of a word, which the tree does not know."""
        start = node.start_byte
        if self._source[start : start + 1] == b"{" and self._source[start + 1 : start + 2].strip():
            self.is_whole = False

    def _file(self, node: "Node") -> None:
        if any(child.type in ("<&-", ">&-") for child in node.children):
            self.is_whole = False  # what follows is the command's, but not in the tree
        destinations = node.children_by_field_name("destination")
        if node.type == "herestring_redirect":
            self.fed += (self._word(child).text for child in node.named_children)
        if not destinations:
            return
        target = self._word(destinations[0]).text
        self.words.append(target)
        if target in FREE or re.fullmatch(r"\d+-?|-", target):
            return
        sign = next((child.type for child in node.children if child.type[-1] in "<>&|"), ">")
        (self.reads if sign in ("<", "<&") else self.writes).append(target)

    def _here(self, node: "Node") -> None:
        start = next((part for part in node.children if part.type == "heredoc_start"), None)
        body = next((part for part in node.children if part.type == "heredoc_body"), None)
        if start is None or body is None:
            return
        self.fed.append(self._source[body.start_byte : body.end_byte].decode("utf-8", "replace"))
        if any(mark in self._source[start.start_byte : start.end_byte] for mark in b"'\"\\"):
            self._covered.append((body.start_byte, body.end_byte))

    def _accounts_for_all(self) -> bool:
        """Every mark of a substitution is one in the tree, or stands in literal text."""
        for mark in re.finditer(_MARKS, self._source):
            at = mark.start()
            escapes = len(self._source[:at]) - len(self._source[:at].rstrip(b"\\"))
            if at in self._accounted or escapes % 2:
                continue
            if not any(start <= at < end for start, end in self._covered):
                return False
        return True


def _leaves(parts: list["Node"]) -> list["Node"]:
    """The words of a test, which the tree takes for an expression."""
    leaves: list[Node] = []
    stack = parts[::-1]
    while stack:
        part = stack.pop()
        if part.type in _TESTING and part.children:
            stack.extend(reversed(part.children))
        else:
            leaves.append(part)
    return leaves
