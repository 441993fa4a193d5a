"""How do many small knowledge bases live in one engine?"""
