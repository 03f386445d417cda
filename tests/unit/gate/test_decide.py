"""The decision itself: where it comes from, what it says, and which rules it looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from detent.gate.judging import decide
from detent.gate.linting import lint_rule
from detent.gate.rules import parse_rule
from detent.gate.terms import Decision, Origin, Policy, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Deny

CWD, HOME = "/w/app", "/home/dev"


def policy(mode: Any = "default", cwd: str = CWD, **parts: Any) -> Policy:
    texts = {name: parts.pop(name, ()) for name in ("allow", "ask", "deny")}
    rules = RuleSet(**{k: tuple(parse_rule(t, str) for t in texts[k]) for k in texts})
    return Policy(rules, mode, Workspace(cwd, (cwd,), HOME), **parts)


def call(effect: Effect, tool: str = "Bash", **arguments: Any) -> Proposal:
    return Proposal(Call("c", tool, "{}"), tool, arguments, (effect,))


def on(text: str, mode: Any = "default", **parts: Any) -> Decision:
    return decide(policy(mode, **parts), call(Runs(text)))


@pytest.mark.parametrize(
    ("decision", "kind", "source"),
    [
        (on("make", deny=["Bash(make)"]), Deny, "rule Bash(make)"),
        (on("make", ask=["Bash(make)"], allow=["Bash"]), Ask, "rule Bash(make)"),
        (on("rm -rf /etc", allow=["Bash"]), Ask, "critical removal"),
        (on("make", allow=["Bash(make)"]), Allow, "rule Bash(make)"),
        (on("$X", allow=["Bash"], deny=["Bash(make)"]), Ask, "rule Bash(make)"),
        (on("tee .git/config", allow=["Bash(tee:*)"]), Ask, "protected path"),
        (on("make"), Ask, "mode default"),
        (on("cat .env"), Ask, "secret"),
        (on("make && cat .env"), Ask, "secret"),
        (on("make && tee .git/x && cat /etc/x"), Ask, "protected path"),
        (on("make", "dontAsk"), Deny, "mode dontAsk"),
        (on("ls"), Allow, "mode default"),
        (on("ls", is_saved=False), Allow, "mode default"),
        (on("mkdir d", "acceptEdits"), Allow, "mode acceptEdits"),
        (on("mkdir d", "acceptEdits", is_saved=False), Ask, "session not saved"),
        (on("make", trusts_sandbox=True), Allow, "sandbox"),
    ],
)
def test_who_decided(decision: Decision, kind: type, source: str) -> None:
    assert (type(decision.verdict), decision.verdict.source) == (kind, source)
    named = source.removeprefix("rule ") if source.startswith("rule ") else ""
    assert (decision.rule.text if decision.rule else "") == named


def test_an_explanation_names_every_rule_and_where_it_stands() -> None:
    origin = Origin("project", "/w/app/.claude/settings.json", 3)
    deny = (parse_rule("Bash(curl:*)", str, origin), parse_rule("Bash(wget:*)", str))
    rules = RuleSet(allow=(parse_rule("Bash(make:*)", str), parse_rule("Read", str)), deny=deny)
    terms = Policy(rules, "default", Workspace(CWD, (CWD,), HOME))
    decision = decide(terms, call(Runs("make && curl x")), explain=True)
    assert decision.rule is not None and decision.rule.origin == origin
    assert [(each.list, each.rule.text, each.matched) for each in decision.considered] == [
        ("deny", "Bash(curl:*)", True),
        ("deny", "Bash(wget:*)", False),
        ("allow", "Bash(make:*)", True),
        ("allow", "Read", False),
    ]
    assert decide(terms, call(Runs("make"))).considered == ()


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto", "plan", "bypassPermissions"])
def test_outside_the_sandbox_is_asked_about_whatever_permits_it(mode: str) -> None:
    outside = call(Runs("ls", outside=True))
    verdict = decide(policy(mode, allow=["Bash", "Bash(ls)"], trusts_sandbox=True), outside).verdict
    assert isinstance(verdict, Ask) and verdict.source == "outside the sandbox"
    assert verdict.rules == ()
    assert isinstance(decide(policy("dontAsk", allow=["Bash"]), outside).verdict, Deny)


@pytest.mark.parametrize(
    ("text", "mode", "kind"),
    [
        ("make", "default", Allow),
        ("make", "acceptEdits", Allow),
        ("make", "auto", Allow),
        ("make", "plan", Ask),
        ("make", "dontAsk", Deny),
        ("x $Y `z`", "default", Allow),
        ("cat /etc/hosts", "default", Allow),
        ("make > out", "default", Allow),
        ("make > .git/config", "default", Ask),
        ("tee .git/config", "default", Ask),
        ("cat .env", "default", Ask),
        ("cat < /dev/tcp/x/1", "default", Ask),
        ("rm -rf /etc", "default", Ask),
    ],
)
def test_what_a_sandbox_stands_in_for(text: str, mode: str, kind: type) -> None:
    assert type(on(text, mode, trusts_sandbox=True).verdict) is kind


def test_not_even_an_exact_rule_writes_a_protected_path() -> None:
    for text in ("tee .git/config", "cat /proc/1/environ", "cat /dev/mem", "cat /proc/self/mem"):
        assert isinstance(on(text, allow=[f"Bash({text})"]).verdict, Ask)
        assert isinstance(on(text, "bypassPermissions").verdict, Allow)


def test_a_sandbox_does_not_outweigh_a_rule() -> None:
    assert isinstance(on("make", ask=["Bash(make)"], trusts_sandbox=True).verdict, Ask)
    assert isinstance(on("$X", deny=["Bash(make)"], trusts_sandbox=True).verdict, Ask)
    assert isinstance(on("make", deny=["Bash(make)"], trusts_sandbox=True).verdict, Deny)


@pytest.mark.parametrize(
    ("effect", "tool", "rule"),
    [
        (Reads(f"{CWD}/.env"), "Read", "Read(/.env)"),
        (Reads(f"{HOME}/.ssh/id_rsa"), "Read", f"Read(/{HOME}/.ssh/id_rsa)"),
        (Reads(f"{CWD}/.ssh"), "Grep", "Read(/.ssh)"),
        (Writes(f"{CWD}/.env"), "Write", "Edit(/.env)"),
        (Runs("make < .env"), "Bash", "Read(/.env)"),
        (Runs("make .env"), "Bash", "Read(/.env)"),
    ],
)
def test_a_secret_is_refused_with_the_rule_that_permits_it(
    effect: Effect, tool: str, rule: str
) -> None:
    allow = ["Bash(make:*)"]
    asked = decide(policy("acceptEdits", allow=allow), call(effect, tool)).verdict
    assert isinstance(asked, Ask) and asked.rules == (rule,) and "secrets" in asked.reason
    refused = decide(policy("dontAsk", allow=allow), call(effect, tool)).verdict
    assert isinstance(refused, Deny) and f"The rule {rule} would permit it." in refused.reason
    permitted = policy("dontAsk", allow=[*allow, rule])
    assert isinstance(decide(permitted, call(effect, tool)).verdict, Allow)


@pytest.mark.parametrize("text", ["cat .env*", "cat .e??", "cat .en[v]"])
def test_a_glob_for_hidden_files_may_name_a_secret(text: str) -> None:
    assert isinstance(on(text).verdict, Ask)
    assert isinstance(on(text, allow=["Bash(cat:*)"]).verdict, Ask)
    assert isinstance(on("cat *.md").verdict, Allow)


def test_a_glob_is_judged_by_what_it_comes_to(tmp_path: Path) -> None:
    cwd = os.path.realpath(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    assert isinstance(on("cat *.txt", cwd=cwd).verdict, Allow)
    (tmp_path / "b.txt").symlink_to("/etc/hosts")
    assert isinstance(on("cat *.txt", cwd=cwd).verdict, Ask)
    assert isinstance(on("ls *.txt", cwd=cwd).verdict, Allow)
    (tmp_path / "c.txt").symlink_to("/etc")
    assert isinstance(on("ls *.txt", cwd=cwd).verdict, Ask)


@pytest.mark.parametrize("text", ["grep -R x a", "grep -rR x a", "diff -r a b", "diff a b"])
def test_a_command_that_follows_links_asks_where_one_leads_out(text: str, tmp_path: Path) -> None:
    cwd = os.path.realpath(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "a" / "x").symlink_to(tmp_path / "b")
    assert isinstance(on(text, cwd=cwd).verdict, Allow)
    (tmp_path / "a" / "y").symlink_to("/etc/hosts")
    assert isinstance(on(text, cwd=cwd).verdict, Ask)
    (tmp_path / "a" / "y").unlink()
    (tmp_path / "a" / "z").symlink_to(tmp_path / "own")  # whose own links would be followed, too
    assert isinstance(on(text, cwd=cwd).verdict, Ask)


def test_the_folder_of_a_file_that_may_not_be_read_is_asked_about() -> None:
    for text in ("ls config", "cp -r ./config x", "cd config && ls", "zip x.zip config"):
        assert isinstance(on(text, allow=["Bash"], deny=["Read(config/key)"]).verdict, Ask)
    for text in ("ls src", "git add .", "ls", "cat config/other"):
        assert isinstance(on(text, allow=["Bash"], deny=["Read(config/key)"]).verdict, Allow)
    assert isinstance(on("ls config", allow=["Bash"], deny=["Read(.env)"]).verdict, Allow)


@pytest.mark.parametrize("text", ["cat a", "npm test | cat a", "grep x a", "npm test < a"])
def test_who_may_read_nothing_reads_nothing_by_a_command(text: str) -> None:
    assert isinstance(on(text, allow=["Bash"], deny=["Read"]).verdict, Deny)
    assert isinstance(on("npm test | grep x", allow=["Bash"], deny=["Read"]).verdict, Allow)


def test_a_glob_may_be_a_window_into_a_process() -> None:
    for text in ("cat /proc/*/environ", "cat /proc/[0-9]*/mem", "cat /*/*/*/*/x"):
        assert isinstance(on(text, allow=["Bash(cat:*)"]).verdict, Ask)
    assert isinstance(on("cat /proc/cpuinfo", allow=["Bash(cat:*)"]).verdict, Allow)


def test_a_slash_is_where_the_settings_of_the_rule_stand() -> None:
    there = parse_rule("Edit(/docs/**)", str, Origin("user", folder="/home/dev/.claude"))
    terms = Policy(RuleSet(allow=(there,)), "default", Workspace(CWD, (CWD,), HOME))
    inside = call(Writes(f"{CWD}/docs/a"), "Edit")
    assert isinstance(decide(terms, inside).verdict, Ask)
    assert isinstance(decide(policy(allow=["Edit(/docs/**)"]), inside).verdict, Allow)
    denied = Policy(RuleSet(deny=(there,)), "acceptEdits", Workspace(CWD, (CWD,), HOME))
    assert isinstance(decide(denied, inside).verdict, Allow)


def test_a_protected_folder_is_known_by_what_it_is(tmp_path: Path) -> None:
    """As on a disk that knows it by another name: here by a second name of one of its files."""
    cwd = os.path.realpath(tmp_path)
    (tmp_path / ".envrc").write_text("x")
    os.link(tmp_path / ".envrc", tmp_path / "plain")
    (tmp_path / "other").write_text("x")
    terms = policy("acceptEdits", cwd=cwd, allow=["Edit"])
    for name, kind in ((".ENVRC", Ask), ("plain", Ask), (".GIT/x", Ask), ("other", Allow)):
        assert type(decide(terms, call(Writes(f"{cwd}/{name}"), "Edit")).verdict) is kind


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("npm run build", ("Bash(npm run build)", "Bash(npm run:*)")),
        ("ls && npm run build x", ("Bash(npm run build x)", "Bash(npm run:*)")),
        ("npm i && make", ()),
        ("python3 x.py a", ("Bash(python3 x.py a)",)),
        ("python3.11 x.py a", ("Bash(python3.11 x.py a)",)),
        ("npx jest a b", ("Bash(npx jest a b)",)),
        ("ssh host ls x", ("Bash(ssh host ls x)",)),
        ("sh -c x", ("Bash(sh -c x)",)),
        ("env A=1 make", ("Bash(env A=1 make)",)),
        ("A=1 make x", ("Bash(A=1 make x)",)),
        ("A=1 rm x", ()),
        ("rm x y z", ()),
        ("/bin/rm x y z", ()),
        ("make > out", ()),
        ("echo x > out", ("Edit(/out)",)),
        ("make `x`", ()),
        ("make 'a*'", ()),
        ("cd sub && git push x y", ()),
        ("tee .git/config", ()),
        ("cat .env", ("Read(/.env)", "Bash(cat .env)")),
    ],
)
def test_what_is_offered(text: str, rules: tuple[str, ...]) -> None:
    asked = on(text).verdict
    assert isinstance(asked, Ask) and asked.rules == rules
    for rule in rules:
        assert isinstance(on(text, allow=[rule]).verdict, Allow)


@pytest.mark.parametrize("listed", ["deny", "ask"])
@pytest.mark.parametrize(
    ("rule", "arguments", "matches"),
    [
        ("Agent(model:opus)", {"model": "opus"}, True),
        ("Agent(model:o*)", {"model": "opus"}, True),
        ("Agent(model:opus)", {"model": "sonnet"}, False),
        ("Agent(model:opus)", {}, False),
        ("Task(x)", {}, True),
        ("Agent(y)", {}, False),
        ("Agent(back:true)", {"back": True}, True),
        ("Agent(back:true)", {"back": False}, False),
        ("Agent(n:3)", {"n": 3}, True),
        ("Agent(n:3)", {"n": [3]}, False),
        ("*", {}, True),
        ("Ag*", {}, True),
    ],
)
def test_restrictions_by_parameter_and_by_kind(
    listed: str, rule: str, arguments: dict[str, Any], matches: bool
) -> None:
    terms = policy(allow=["Agent"], **{listed: [rule]})
    verdict = decide(terms, call(Spawns("x"), "Agent", **arguments)).verdict
    assert isinstance(verdict, Allow) is not matches


def test_the_main_field_is_no_parameter() -> None:
    """`command:*` is a rule for the program `command`."""
    terms = policy(allow=["Bash"], deny=["Bash(command:*)"])
    assert isinstance(decide(terms, call(Runs("make"), command="make")).verdict, Allow)
    assert isinstance(decide(terms, call(Runs("command make"), command="x")).verdict, Deny)


def test_in_plan_mode_an_ask_rule_does_not_open_a_door() -> None:
    terms = policy("plan", ask=["Edit", "Bash"])
    assert isinstance(decide(terms, call(Writes(f"{CWD}/a"), "Edit")).verdict, Deny)
    assert isinstance(decide(terms, call(Runs("make > a"))).verdict, Deny)
    assert isinstance(decide(terms, call(Runs("make"))).verdict, Ask)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://x.test/", Allow),
        ("https://docs.test@evil.test/", Ask),
        ("ftp://evil.test/", Deny),
        ("ftp://x.test/", Deny),
        ("x.test/a", Deny),
        ("https://evil.test\\@x.test/", Ask),
        ("https://[x.test]/", Ask),
        ("file:///etc/passwd", Deny),
        ("http://169.254.169.254@x.test/", Allow),
        ("http://x.test@169.254.169.254/", Deny),
    ],
)
def test_an_address_that_would_not_be_dialled_is_judged_by_its_host(url: str, kind: type) -> None:
    terms = policy(allow=["WebFetch(domain:x.test)", "WebFetch(domain:docs.test)"])
    proposal = Proposal(Call("c", "WebFetch", "{}"), "WebFetch", {"url": url}, ())
    assert type(decide(terms, proposal).verdict) is kind


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "169.254.0.1", "fe80::1", "fd00:ec2::254", "metadata.google.internal",
     "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::ffff:a9fe:a9fe", "100.100.100.200"],
)  # fmt: skip
def test_metadata_needs_a_rule_for_exactly_that_host(host: str, mode: str) -> None:
    reach = call(Connects(host), "WebFetch")
    wide = ["WebFetch", "WebFetch(domain:*)", "WebFetch(domain:*.internal)"]
    refused = decide(policy(mode, allow=wide), reach).verdict
    assert isinstance(refused, Deny) and "WebFetch(domain:" in refused.reason
    named = decide(policy(mode, allow=[f"WebFetch(domain:{host})"]), reach).verdict
    assert isinstance(named, Allow)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "::1", "10.1.2.3", "fd12::1", "box", "0.0.0.0"]
)
def test_any_host_is_none_of_the_own_network(host: str) -> None:
    reach = call(Connects(host), "WebFetch")
    for rule in ("WebFetch", "WebFetch(domain:*)"):
        assert isinstance(decide(policy(allow=[rule]), reach).verdict, Ask)
    assert isinstance(decide(policy("bypassPermissions"), reach).verdict, Allow)
    assert isinstance(decide(policy(allow=[f"WebFetch(domain:{host})"]), reach).verdict, Allow)


@pytest.mark.parametrize(
    ("rule", "warning"),
    [
        ("Bash(env *)", "does not permit what env runs"),
        ("Bash(xargs:*)", "does not permit what xargs runs"),
        ("Bash(python:*)", "any program at all"),
        ("Bash(python3.11:*)", "any program at all"),
        ("Bash(sh *)", "any program at all"),
        ("Bash(ls*)", "no word boundary"),
        ("Bash(* x)", "name the program first"),
        ("Bash(git:* push)", "only at the end"),
        ("Bash(a && b)", "matches nothing"),
        ("Write(docs/**)", "write Edit(docs/**)"),
        ("Glob(docs/**)", "write Read(docs/**)"),
        ("mcp__*", "permits nothing"),
        ("*", "permits nothing"),
        ("Bash(npm run:*)", ""),
        ("Bash(python3 x.py)", ""),
        ("Bash", ""),
        ("Write", ""),
        ("mcp__s__*", ""),
        ("Edit(docs/**)", ""),
    ],
)
def test_a_rule_that_is_not_what_it_seems(rule: str, warning: str) -> None:
    said = lint_rule(parse_rule(rule, str))
    assert warning in said if warning else said == ""
    assert not lint_rule(parse_rule("Write(docs/**)", str), "deny")


def test_what_a_text_makes_is_not_gone_through(tmp_path: Path) -> None:
    cwd = os.path.realpath(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    rules = ["Bash(ln:*)", "Bash(mv:*)", "Bash(cp:*)", "Bash(npm:*)", "Edit"]
    for text, kind in (
        ("ln -s /etc e; cat e/passwd", Ask),
        ("ln -s /etc e; npm e/passwd", Ask),
        ("ln -s /etc e; npm x > e/y", Ask),
        ("ln -s /etc/passwd; npm passwd", Ask),
        ("ln -t . -s /etc; npm x", Ask),
        ("mv folder f; cat f", Ask),
        ("cp -r folder f; cat f/x", Ask),
        ("mv file f; cat f", Allow),
        ("mv new f; cat f", Allow),
        ("mv new f; cat f/x", Ask),
        ("ln -s /etc e; npm x", Allow),
    ):
        assert type(on(text, cwd=cwd, allow=rules).verdict) is kind, text


def test_a_long_way_ends_in_the_unknown() -> None:
    """Each step may have failed: the folders to think of double with every one."""
    far = "; ".join(f"cd d{step}" for step in range(100))
    assert isinstance(on(f"{far}; cat x").verdict, Ask)
    assert isinstance(on(f"{far}; cat x", allow=["Bash"]).verdict, Allow)
