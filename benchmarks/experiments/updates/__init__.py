"""How long does a small update take, by each strategy, and beside starting over?"""
