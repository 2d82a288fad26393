"""What is run and stored: a module an experiment, which its ``EXPERIMENT`` describes.

``Config`` is what a row depends on, ``plan`` the configurations of a scale ("smoke", "laptop" or "paper"), ``compute`` the row's results by
name; book/house.md says more. Where there are several of each, their names tell them apart.
"""
