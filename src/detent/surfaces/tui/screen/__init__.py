"""What stands in a terminal: styled text, themes, and the painter of frames."""
