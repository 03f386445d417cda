"""Tables for people, which need no session to be open."""
