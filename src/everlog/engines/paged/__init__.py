"""Facts in sorted, mapped files; of them only what an update looks at is ever read."""
