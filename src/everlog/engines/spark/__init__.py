"""The engine for what one machine does not hold: facts in DataFrames of 64-bit ids, one job per round."""
