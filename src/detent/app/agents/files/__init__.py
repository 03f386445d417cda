"""Agents that write: side by side in one folder, or each in a worktree of its own."""
