"""How does each system keep a view, or ask again?"""
