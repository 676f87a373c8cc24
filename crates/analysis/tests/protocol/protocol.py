"""The published protocol of the mail benchmark, computed the plain way with numpy and scikit-learn.

    protocol.py RUN_FOLDER NAIVE_FOLDER OUTPUT.json [SEED [REPLICATES]]

Reads manifest_used.jsonl and one predictions file a detector; shares no code with the analysis that it checks.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

ROLES = {"benign": "benign", "phishing": "phish", "scam": "phish", "spam": "phish",
         "prompt_injection_direct": "pi", "prompt_injection_indirect": "pi"}
THRESHOLD, TARGET = 0.35, 0.01


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_run(folder):
    """Scores by detector and task; a row with an error or without a score is no score."""
    scores, judges, errors = {}, set(), {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        if path.name == "manifest_used.jsonl":
            continue
        rows = lines(path)
        name = rows[0].get("detector") or rows[0]["model"]
        judge = "pi_score" in rows[0]
        if judge:
            judges.add(name)
        keys = {"pi": "pi_score", "phishing": "phi_score"} if judge else {"pi": "score", "phishing": "score"}
        scores[name] = {
            task: {r["id"]: r[key] for r in rows if not r.get("error") and r.get(key) is not None}
            for task, key in keys.items()
        }
        errors[name] = sum(1 for r in rows if r.get("error"))
    return scores, judges, errors


def tpr_at_fpr(y, s):
    """Recall of scores strictly above the k-th highest negative, counted from 0; k = floor(target * negatives)."""
    negatives = np.sort(s[~y])[::-1]
    k = int(np.floor(TARGET * len(negatives)))
    return float(np.mean(s[y] > negatives[k]))


def points(y, s):
    if y.all() or not y.any():
        return [float("nan")] * 4
    return [float(roc_auc_score(y, s)), tpr_at_fpr(y, s),
            float(np.mean(s[y] >= THRESHOLD)), float(np.mean(s[~y] >= THRESHOLD))]


def bootstrap(y, s, groups, seed, replicates):
    names = sorted(set(groups))
    rows = {name: [] for name in names}
    for i, group in enumerate(groups):
        rows[group].append(i)
    members = [np.array(rows[name]) for name in names]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replicates):
        drawn = rng.choice(len(names), len(names), replace=True)
        chosen = np.concatenate([members[g] for g in drawn])
        found.append(points(y[chosen], s[chosen]))
    found = np.array(found)
    out = []
    for column in found.T:
        column = column[~np.isnan(column)]
        out.append([float(v) for v in np.percentile(column, [2.5, 97.5])])
    return out


def split(records):
    strata = {}
    for r in records:
        strata.setdefault((r["kind"], r["provenance"]["source"]), set()).add(r["group"])
    half = {}
    for groups in strata.values():
        for i, group in enumerate(sorted(groups)):
            side = "dev" if i % 2 == 0 else "test"
            assert half.setdefault(group, side) == side, group
    return half


def rates(y, flagged):
    return float(np.mean(flagged[y])), float(np.mean(flagged[~y]))


def tune(y, s, candidates):
    """The threshold of most recall at a false-positive rate within the target; the lowest of equals."""
    best = None
    for t in sorted(candidates):
        recall, fpr = rates(y, s >= t)
        if fpr <= TARGET and (best is None or recall > best[1]):
            best = (float(t), recall, fpr)
    return best


def grid(s):
    return sorted({round(float(v), 3) for v in s})[::4] + [1.1]


def two_tier(y, s, verified):
    """A threshold for verified senders and one for the rest, each from its own tier's scores; then a single one."""
    best = None
    for a in grid(s[verified]):
        for b in grid(s[~verified]):
            recall, fpr = rates(y, np.where(verified, s >= a, s >= b))
            if fpr <= TARGET and (best is None or recall > best[0]):
                best = (recall, a, b)
    single = None
    for t in grid(s):
        recall, fpr = rates(y, s >= t)
        if fpr <= TARGET and (single is None or recall > single[0]):
            single = (recall, t)
    return best, single


def main():
    run, naive, output = sys.argv[1:4]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    replicates = int(sys.argv[5]) if len(sys.argv) > 5 else 1000
    manifest = lines(Path(run) / "manifest_used.jsonl")
    scores, judges, errors = read_run(run)
    naive_scores, _, _ = read_run(naive)

    def covered(r):
        return all(r["id"] in scores[j][t] for j in judges for t in ("pi", "phishing"))

    records = [r for r in manifest if covered(r) and "pdf_attachment" not in r["surface"]]
    for r in records:
        r["kind"] = ROLES[r["label"]["threat_type"]]
        r["group"] = r["provenance"].get("base_payload_id") or r["id"]
    half = split(records)
    result = {
        "seed": seed, "replicates": replicates,
        "population": {"manifest": len(manifest), "text_ids": len(records),
                       "dev": sum(half[r["group"]] == "dev" for r in records),
                       "test": sum(half[r["group"]] == "test" for r in records)},
        "errors": {name: errors[name] for name in sorted(errors)},
        "tasks": {},
    }

    def take(kinds, table, where=lambda r: True):
        rows = [r for r in records if r["kind"] in kinds and r["id"] in table and where(r)]
        y = np.array([r["kind"] != "benign" for r in rows])
        s = np.array([table[r["id"]] for r in rows], dtype=float)
        return rows, y, s

    def on(side):
        return lambda r: half[r["group"]] == side

    for task, kinds in {"pi": ("pi", "benign"), "phishing": ("phish", "benign")}.items():
        out = result["tasks"][task] = {"test": {}, "whole": {}, "dev_tuned": {}}
        for name in sorted(scores):
            table = scores[name][task]
            rows, y, s = take(kinds, table, on("test"))
            values = points(y, s)
            intervals = bootstrap(y, s, [r["group"] for r in rows], seed, replicates)
            out["test"][name] = {"n_pos": int(y.sum()), "n_neg": int((~y).sum()), "values": values,
                                 "intervals": intervals}
            _, wy, ws = take(kinds, table)
            out["whole"][name] = {"n_pos": int(wy.sum()), "n_neg": int((~wy).sum()), "values": points(wy, ws)}
            if name in judges:
                _, dy, ds = take(kinds, table, on("dev"))
                threshold, _, _ = tune(dy, ds, set(ds) | {float("inf")})
                recall, fpr = rates(y, s >= threshold)
                out["dev_tuned"][name] = {"threshold": threshold, "recall": recall, "fpr": fpr}

    kinds = ("pi", "benign")
    result["view_ablation"] = {}
    for name in sorted(naive_scores):
        _, y, s = take(kinds, scores[name]["pi"])
        _, ny, ns = take(kinds, naive_scores[name]["pi"])
        result["view_ablation"][name] = {"canonical": points(y, s), "naive": points(ny, ns)}

    result["sender_auth"] = {}
    for name in sorted(scores):
        table = scores[name]["pi"]
        out = result["sender_auth"][name] = {}
        for auth in ("verified", "spoofed", "unauthenticated"):
            rows, y, s = take(kinds, table, lambda r: r["sender_auth_condition"] == auth)
            out[auth] = {"n": len(rows), "n_pos": int(y.sum()), "values": points(y, s)}
        if name not in ("judge:small", "service-levels", "rules", "service-quarters"):
            continue
        drows, dy, ds = take(kinds, table, on("dev"))
        trows, ty, ts = take(kinds, table, on("test"))
        verified = np.array([r["sender_auth_condition"] == "verified" for r in drows])
        best, single = two_tier(dy, ds, verified)
        verified = np.array([r["sender_auth_condition"] == "verified" for r in trows])
        recall, fpr = rates(ty, np.where(verified, ts >= best[1], ts >= best[2]))
        out["two_tier"] = {"dev_recall": best[0], "t_verified": best[1], "t_other": best[2],
                           "test_recall": recall, "test_fpr": fpr}
        recall, fpr = rates(ty, ts >= single[1])
        out["single_tier"] = {"threshold": single[1], "test_recall": recall, "test_fpr": fpr}

    Path(output).write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
