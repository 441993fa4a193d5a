"""Many small knowledge bases in one engine, and on Spark."""
