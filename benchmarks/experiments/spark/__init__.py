"""How long do derivations and updates take on Spark?"""
