"""The whole book as one PDF: the built site's pages printed by Chromium, one after the other, and joined.

    python -m bookext.pdf [FILE] [--site FOLDER] [--pages DOCNAME ...]

What is printed is what the site shows, unfolded where a reader of paper must see it (proofs, supplements) and without what is folded away
(code, checks, solutions). ``links`` says what must be found again on paper, ``printing`` prints, ``front`` makes the
title page and the contents, ``joining`` turns links between pages into jumps inside the document and adds bookmarks.
"""
