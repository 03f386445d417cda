"""What `detent doctor` looks at: one file per check. A check says what is, and never raises."""
