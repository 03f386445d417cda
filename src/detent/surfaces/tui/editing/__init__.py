"""What is typed: keys, the text box, what was typed before, and what may be meant."""
