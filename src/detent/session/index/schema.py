"""The tables of the index. A file that was made otherwise is made anew."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 2
"""Raise it with every change of the tables, of the facts, and of what is told of an entry."""

ROOM = 32
"""Bits of a passage's id that number it within its session; those above are the session's."""

TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    place TEXT UNIQUE NOT NULL,  -- of its log, below the folder of all
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL,  -- nanoseconds
    read INTEGER NOT NULL,  -- so far, in bytes
    tail BLOB NOT NULL,  -- the last of these bytes
    passages INTEGER NOT NULL,  -- how many there were
    facts BLOB NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,  -- rewound
    said TEXT NOT NULL,
    done TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    said, done, content = 'passages', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(3.0, 1.0)');
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    INSERT INTO words (rowid, said, done) VALUES (new.id, new.said, new.done);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
    INSERT INTO words (words, rowid, said, done)
    VALUES ('delete', old.id, old.said, old.done);
END;
PRAGMA user_version = {version};
COMMIT;
"""


class Outdated(Exception):
    """The file was made by another version, or by somebody else."""


def prepare(db: "Connection") -> None:
    """Makes the tables where there are none. Raises Outdated."""
    if _is_empty(db):
        from sqlite3 import OperationalError

        try:
            db.executescript(TABLES.format(version=VERSION))
        except OperationalError:
            if db.in_transaction:
                db.rollback()
            if _is_empty(db):  # else somebody else was faster
                raise
    if _version(db) != VERSION:
        raise Outdated


def _is_empty(db: "Connection") -> bool:
    return not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()


def _version(db: "Connection") -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
