"""What does a stream of updates cost, with marking and without?"""
