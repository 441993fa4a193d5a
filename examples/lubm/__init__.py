"""Ten universities on Spark: from a file of triples to tables, and the benchmark's queries over them."""
