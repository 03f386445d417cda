"""Programs that run what they are given. One list for all: what a deny rule looks through, what an
allow rule does not cover, and what is never offered with a `*`."""

SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ash", "ksh", "rbash", "mksh", "fish", "csh", "tcsh"}
)
INTERPRETERS = frozenset(
    {"python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua",
     "awk", "gawk", "mawk", "tclsh", "osascript", "Rscript", "julia", "npx", "bunx", "uvx", "pipx",
     "powershell", "pwsh"}
)  # fmt: skip
WRAPPERS = frozenset({"timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"})
"""An allow rule looks through these."""
OPERANDS = {
    **dict.fromkeys(WRAPPERS, 0),
    "timeout": 1, "gtimeout": 1, "flock": 1, "chroot": 1, "taskset": 1, "chrt": 1, "ssh": 1,
    "su": 1, "runuser": 1, "script": 1, "coproc": 1, "entr": 0, "sudo": 0, "doas": 0, "env": 0,
    "exec": 0, "setsid": 0, "watch": 0, "ionice": 0, "xargs": 0, "busybox": 0, "toybox": 0,
    "unshare": 0, "nsenter": 0, "strace": 0, "ltrace": 0, "parallel": 0, "pkexec": 0,
    "systemd-run": 0, "eval": 0, "unbuffer": 0, "firejail": 0, "gdb": 0, "then": 0,
    "bwrap": 99,  # its flags take several words each
}  # fmt: skip
"""How many words of their own stand before what they run."""
RUNNERS = frozenset(OPERANDS) | {"trap", "source", ".", "expect"}
