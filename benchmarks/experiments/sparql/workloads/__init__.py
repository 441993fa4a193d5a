"""Which views are kept, over which data, through which updates?"""
