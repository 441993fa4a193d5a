"""What are benchmarks run on? Shared data sets, generated triples, and rules with the facts they start from."""
