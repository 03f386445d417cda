"""Which agents there are, and what each is."""
