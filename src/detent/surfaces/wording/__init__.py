"""What happens, in words and lines that every surface shows alike."""
