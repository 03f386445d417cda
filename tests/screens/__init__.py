"""What the interactive terminal looks like in states that matter, as files that people review.

`make screens` writes them anew; look at them before you commit them.
"""
