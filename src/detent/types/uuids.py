"""Names of entries for programs that want a UUID of everything they are sent."""


def uuid_of(session: str, seq: int) -> str:
    """The session's own, but for the last group, which is the number of the entry."""
    return f"{session[:24]}{seq:012x}" if len(session) == 36 else f"{session}-{seq}"


def seq_in(uuid: str, session: str) -> int:
    """The entry of this session that is called so; 0 where that is none of its names."""
    text = uuid[24:] if len(uuid) == 36 else uuid.rpartition("-")[2]
    base = 16 if len(uuid) == 36 else 10
    try:
        seq = int(text, base)
    except ValueError:
        return 0
    return seq if uuid_of(session, seq) == uuid.lower() else 0
