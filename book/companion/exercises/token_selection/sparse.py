"""Exercises of the chapter *How attention becomes sparse*."""

import functools
import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _summed(h: list[float]) -> float:
    a = max(-each for each in h)
    return a + math.log(sum(math.exp(-each - a) for each in h))


def _log_off(h: list[float]) -> float:
    L = _summed(h)
    return -math.log1p(math.exp(-L)) if L > 0 else L - math.log1p(math.exp(L))


#: What stands for log 0, so that an answer which takes it gets its hint.
_LOG_NOTHING = math.log(1e-300)


def _weight_first(h: list[float]) -> float:
    return math.log(1 - 1 / (1 + sum(math.exp(-each) for each in h)) or 1e-300)


def _sum_first(h: list[float]) -> float:
    total = sum(math.exp(-each) for each in h)
    return math.log(total / (1 + total) or 1e-300)


#: What people answer instead, by the hint they get.
LOG_OFF_MISTAKES = {
    "that is the logarithm of the others' sum over e⁰; the optimal token's own term is missing in the softmax's sum.": _summed,
    "that is log φ of the optimal token.": lambda h: _log_off(h) - _summed(h),
    "only the nearest rival is there: add all of them.": lambda h: _log_off([min(h)]),
    "a sign: a rival whose gap is large has the small weight e^{−h}.": lambda h: _log_off(
        [-each for each in h]
    ),
    "e^{−10000} underflows to 0: take the largest term out of the sum, as a logarithm.": _sum_first,
    "1 − φ cancels: from a gap of 37 on it is 0. Take logarithms before you subtract.": _weight_first,
}


def check_log_off(log_off: Callable[[list[float]], float]) -> Feedback:
    """Exercise *One minus a softmax*: log(1 − φ_opt) from gaps of any size; gaps → a number."""

    def of_nothing(h: list[float]) -> object:
        """The answer; math.log raises at 0 where torch.log is −∞."""
        try:
            return log_off(h)
        except ValueError as error:
            if "domain" in str(error) or "positive" in str(error):
                return _LOG_NOTHING
            raise

    def finite(value: object, h: list[float]) -> object:
        return _LOG_NOTHING if value == -math.inf else value

    cases = [
        ("one rival, gap 2", ([2.0],)),
        ("three rivals near by", ([1.0, 0.5, 2.0],)),
        ("gaps of 40 and 41", ([40.0, 41.0],)),
        ("gaps of 10⁴", ([10_000.0, 10_001.0],)),
        ("the optimal token far behind", ([-50.0, 3.0],)),
    ]
    answer = functools.wraps(log_off)(of_nothing) if callable(log_off) else log_off
    return judge("ex-sparse-log-off", answer, _log_off, cases, LOG_OFF_MISTAKES, tolerance=1e-12, seen=finite)


#: What people answer instead, by the hint they get.
BREAK_MISTAKES = {
    "that is double precision: single precision has 24 significant bits": 1837,
    "2⁻²⁴ is e^{−16.6}: a gap of 24 log 2, not of 24": 1200,
    "that is where the other weight underflows; the optimal one is 1 long before": 5199,
    "gaps grow by η/‖W_mm‖ a step, which is 0.02 here, not by η": 1664,
    "gaps grow by η/‖W_mm‖ a step: divide by ‖W_mm‖, do not multiply": 3328,
    "at step 831 the gap is 16.62, just below 24 log 2 = 16.64": 831,
    "1 + e^{−h} is 1 from e^{−h} = 2⁻²⁴ on: half of the spacing 2⁻²³": 798,
}


def check_break(step: Answer) -> Feedback:
    """Exercise *When will it break?*: the first step with 0.02 t ≥ 24 log 2."""
    return judge_number(
        "ex-sparse-break",
        step,
        832,
        BREAK_MISTAKES,
        lambda number: (
            "steps are whole: which is the first that is not below 831.78?"
            if 831 < number < 832
            else "the gap is ηt/‖W_mm‖; at which gap does 1 + e^{−h} round to 1 in single precision?"
        ),
        "0.02 · 832 = 16.64, just above 24 log 2 = 16.636",
        tolerance=0.0,
        near=0.0,
        begin="the gap after t steps is 0.02 t; single precision loses 1 − φ where e^{−gap} falls below 2⁻²⁴.",
    )


#: What people answer instead, by the hint they get.
ENTROPY_MISTAKES = {
    "e^{w} grows like ηt/e, and 1 − φ is its reciprocal": 1 / math.e,
    "the loss at saturation, e^{−1}, slows descent down: it belongs in the constant": 1.0,
    "H itself tends to 0: what is asked for is H divided by log t/t": 0.0,
    "only one of the two terms of H counts: (1 − ε) log(1 − ε) is smaller by a logarithm": 2 * math.e,
}


def check_entropy(limit: Answer) -> Feedback:
    """Exercise *The entropy of attention*: the limit of H t/log t, which is e/η."""
    return judge_number(
        "ex-sparse-entropy",
        limit,
        math.e,
        ENTROPY_MISTAKES,
        "H is about ε log(1/ε) with ε = 1 − φ = e^{−w}",
        "1 − φ is about e/t, and log(1/(1 − φ)) about log t",
        tolerance=2e-3,
    )
