"""Williams' test: do two metrics correlate differently with the same human scores? (Graham and Baldwin 2014)"""

from __future__ import annotations

import numpy as np

from wholetext.meta.agreement.correlation import both_known, pearson_rows
from wholetext.types import FloatArray


def williams(r12: float, r13: float, r23: float, n: int, one_sided: bool = True) -> float:
    """p for r12 (gold, metric 1) against r13 (gold, metric 2), given r23 (metric 1, metric 2) over n items.

    t = (r12 - r13) √((n-1)(1+r23)) / √(2K (n-1)/(n-3) + ((r12+r13)/2)² (1-r23)³), K = 1 - r12² - r13² - r23² + 2 r12
    r13 r23, with n - 3 degrees of freedom. The one-sided p is of the larger correlation, whichever it is; NaN for n
    of 3 or less.
    """
    if n <= 3:
        return float("nan")
    from scipy import stats

    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    top = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    low = np.sqrt(2 * k * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3)
    p = float(stats.t.sf(abs(top / low), n - 3)) if low > 0 else (0.5 if top == 0 else 0.0)
    return p if one_sided else 2 * p


def williams_test(gold: FloatArray, one: FloatArray, two: FloatArray, one_sided: bool = True) -> float:
    """The same from (n,) scores; items not judged are left out, and do not count in n."""
    known = both_known(gold, one) & ~np.isnan(two)
    gold, one, two = gold[known], one[known], two[known]
    r12, r13, r23 = (float(pearson_rows(a, b)) for a, b in ((gold, one), (gold, two), (one, two)))
    return williams(r12, r13, r23, len(gold), one_sided)
