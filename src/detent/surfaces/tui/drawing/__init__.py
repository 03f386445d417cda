"""How things look: pure functions from what there is, a width and a theme to painted lines."""
