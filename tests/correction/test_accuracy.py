import numpy as np

from crosstask.correction.accuracy import Accuracy


def test_the_interval_covers_the_true_share_in_at_least_nine_of_ten_reviews():
    """Draws without replacement from a run of 200 steps, as a review makes them."""
    rng = np.random.default_rng(0)
    for share in (0.05, 0.3, 0.5, 0.8, 0.97):
        right = np.arange(200) < round(200 * share)
        for n in (5, 12, 40):
            covered = [
                low <= right.mean() <= high
                for low, high in (Accuracy(int(rng.choice(right, n, replace=False).sum()), n).interval for _ in range(500))
            ]
            assert np.mean(covered) >= 0.9, (share, n)


def test_json_holds_fractions():
    assert Accuracy(0, 0).to_json() == {"right": 0, "checked": 0, "accuracy": None, "low": 0.0, "high": 1.0}
    shape = Accuracy(3, 4).to_json()
    assert shape["accuracy"] == 0.75 and 0 < shape["low"] < 0.75 < shape["high"] < 1
