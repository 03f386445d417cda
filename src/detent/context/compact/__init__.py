"""Making room: what is old is told in short. One stage, one file."""
