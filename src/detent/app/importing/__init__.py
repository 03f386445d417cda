"""Sessions from elsewhere: our own exports, and transcripts of Claude Code."""
