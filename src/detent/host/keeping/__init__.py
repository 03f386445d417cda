"""The other side: what runs in a process of its own and outlives the agent by a moment.

Started by `host/nursery.py` in a bare interpreter. Nothing here imports more than a few small
modules of the standard library, because the first command of a session waits for it.
"""
