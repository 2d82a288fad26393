"""Exercises of the chapter *On real sequences*."""

from companion.exercises.kernel_regime import real_sequences


def by_search(band, m, size, larger, allowed):
    """The first even number that is enough."""
    heads = 2
    while band * m / heads * (larger / size) ** 2 > allowed:
        heads += 2
    return heads


def test_heads_found_by_search_pass():
    assert real_sequences.check_heads_needed(by_search).passed


def test_who_forgets_that_partners_cancel_is_told():
    told = real_sequences.check_heads_needed(
        lambda band, m, size, larger, allowed: (
            2 * round(m * (band / allowed * (larger / size) ** 2) ** 2 / 2 + 0.49999)
        )
    ).told
    assert "wrong" in told or "cancel" in told or "differs" in told or told
