"""Settings that all tests share."""

from hypothesis import settings

settings.register_profile("shallowformer", derandomize=True, deadline=None, max_examples=25, database=None)
settings.load_profile("shallowformer")
