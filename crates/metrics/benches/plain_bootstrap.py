"""A cluster bootstrap as it is usually written: numpy draws the groups, scikit-learn reads every replicate.

`plain_bootstrap.py FILE REPLICATES` writes rows to FILE (group, label, score), times the replicates, and prints milliseconds of
processor time per replicate for the area alone and with both true-positive rates, and the last replicate. `cargo xtask bench metrics` runs it.
"""

import math
import sys
import time

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve


def rows(groups=700, total=5000):
    rng = np.random.default_rng(20261130)
    group = np.sort(np.concatenate([np.arange(groups), rng.integers(0, groups, total - groups)]))
    label = (rng.random(groups) < 0.55)[group].astype(int)
    latent = 1.5 * label + rng.normal(0, 1, groups)[group] + rng.normal(0, 1, total)
    return group, label, 1 / (1 + np.exp(-latent))


def main():
    path, replicates = sys.argv[1], int(sys.argv[2])
    group, label, score = rows()
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{g} {y} {float(s)!r}\n" for g, y, s in zip(group, label, score))
    groups = int(group.max()) + 1
    rows_of = [np.flatnonzero(group == g) for g in range(groups)]
    rng = np.random.default_rng(1)
    area, both, last = [], [], None
    for _ in range(replicates):
        start = time.process_time()
        drawn = np.concatenate([rows_of[g] for g in rng.choice(groups, groups, replace=True)])
        y, s = label[drawn], score[drawn]
        auc = roc_auc_score(y, s)
        middle = time.process_time()
        fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
        grade = tpr[fpr <= 0.01].max()
        negatives = np.sort(s[y == 0])[::-1]
        analyze = (s[y == 1] > negatives[math.floor(0.01 * len(negatives))]).mean()
        end = time.process_time()
        area.append((middle - start) * 1000)
        both.append((end - start) * 1000)
        last = auc, grade, analyze
    for name, times in ("area", area), ("all", both):
        print(f"fastest-{name} {min(times):.4f}")
        print(f"median-{name} {np.median(times):.4f}")
    print("last", *(f"{v:.15f}" for v in last))


main()
