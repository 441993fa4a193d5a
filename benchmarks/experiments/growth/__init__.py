"""Does an update cost the same when there is more data, and after many updates?"""
