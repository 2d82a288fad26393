"""What is one chapter's own, in the order of the book: the checks of its exercises, the experiments that it shows, the mistakes that its checks must notice.

What two chapters share stands in ``shallowformer``, which does not know this package.
"""
