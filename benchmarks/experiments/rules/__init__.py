"""What do changes of rules cost, beside starting over and beside ZodiacEdge?"""
