"""What is one chapter's own: its mathematics, the checks of its exercises, its experiments, the mistakes that its checks must notice.

What two chapters share stands in ``shallowformer``, which does not know this package.
"""
