"""What a session did to files, taken back and done again; and going back to what was said."""
