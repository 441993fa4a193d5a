"""The Spark job, a file per stage: ingest, encode, materialise, publish."""
