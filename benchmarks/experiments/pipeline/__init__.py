"""How many rows a second go through each stage of the Spark pipeline, and how much memory does it take?"""
