"""`$DETENT_HOME/index.sqlite`: what all logs hold, for listing and searching.

A cache: the logs are the truth, and the file may be deleted at any time.
"""
