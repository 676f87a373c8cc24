"""Exports AgentDojo's suites as corpora of scenarios, one JSON Lines file a corpus.

    export.py --out DIR --egress egress.toml [--workers N] [CORPUS...]

`docs/formats.md` describes the files. The files are the same bytes on every run, machine and Python version from 3.10. Progress goes to standard output,
`done STEP OF STEPS` a line."""

import argparse
import concurrent.futures
import copy
import functools
import itertools
import json
import os
import sys
from pathlib import Path

import attacks
import inbox
import replay
import suites

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERSION = 1
TRANSFORMS = ("framing", "field_split", "leet")
CORPORA = ("ground", "pairs", "attacks", *(f"attacks-{transform}" for transform in TRANSFORMS), "inbox")


def plan(corpus):
    """Attack and transform of each part of a corpus of pairs."""
    if corpus == "pairs":
        return [(attacks.MAIN, None)]
    return [(attack, corpus.partition("-")[2] or None) for attack in attacks.FIVE]


def dump(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"


def index_texts(scenarios):
    """Moves the outputs into a table, in order of first use."""
    texts = {}
    for scenario in scenarios:
        for call in scenario["calls"]:
            if "output" in call:
                call["output"] = texts.setdefault(call["output"], len(texts))
    return list(texts)


def render(corpus, scenarios, **about):
    texts = index_texts(scenarios)
    header = {
        "format": "wardline-scenarios",
        "version": VERSION,
        "corpus": corpus,
        "benchmark": suites.BENCHMARK,
        "package": suites.PACKAGE,
        "texts": len(texts),
        "scenarios": len(scenarios),
        **about,
    }
    lines = itertools.chain([header], ({"text": text} for text in texts), scenarios)
    return "".join(map(dump, lines)).encode()


def render_inbox():
    records = list(inbox.records())
    header = {
        "format": "wardline-inbox",
        "version": VERSION,
        "corpus": "inbox",
        "benchmark": suites.BENCHMARK,
        "package": suites.PACKAGE,
        "records": len(records),
    }
    return "".join(map(dump, [header, *records])).encode()


class Worker:
    """What a worker process keeps: the egress policy, and every suite's clean outputs once they are known."""

    egress = None
    clean = None
    clean_anywhere = None

    @classmethod
    def start(cls, egress, clean):
        cls.egress = egress
        if clean is not None:
            cls.clean = clean
            cls.clean_anywhere = {output for suite in clean.values() for outputs in suite.values() for output in outputs}


def clean_job(suite):
    user_task, injection_task = (next(iter(tasks)) for tasks in suites.tasks(suite))
    suites.check_environments(suite, next(iter(attacks.payloads(suite, user_task, injection_task, attacks.MAIN).values())))
    ground = list(replay.ground(suite, Worker.egress))
    return ground, list(replay.benign(suite, Worker.egress)), replay.clean_outputs(suite)


def pairs_job(job):
    suite, attack, transform = job
    clean = Worker.clean[suite]
    return list(replay.pairs(suite, attack, transform, Worker.egress, clean, Worker.clean_anywhere))


def run(function, jobs, workers, progress, *state):
    """Results by job. Jobs are handed out in their order, which has no bearing on the results."""
    results = {}
    # Unlike multiprocessing.Pool, this fails when a worker is killed, instead of waiting for ever.
    with concurrent.futures.ProcessPoolExecutor(workers, initializer=Worker.start, initargs=state) as pool:
        for job, result in zip(jobs, pool.map(function, jobs)):
            results[job] = result
            progress()
    return results


def replay_all(corpora, egress, workers):
    """What is replayed without injection, by suite, and with one, by suite, attack and transform."""
    # The largest suites go first, so that no worker ends with one alone.
    names = sorted(suites.suites(), key=lambda name: -len(suites.suites()[name].user_tasks))
    jobs = {(name, *how) for corpus in corpora if corpus != "ground" for how in plan(corpus) for name in names}
    # Identity is replayed like any transform, and must give the attacks corpus.
    if "attacks" in corpora:
        jobs |= {(name, attack, "identity") for attack in attacks.FIVE for name in names}
    jobs = sorted(jobs, key=lambda job: (names.index(job[0]), job[1], str(job[2])))
    done = itertools.count(1)

    def progress():
        print(f"done {next(done)} of {len(names) + len(jobs)}", flush=True)

    base = run(clean_job, names, workers, progress, egress, None)
    clean = {name: outputs for name, (_, _, outputs) in base.items()}
    return base, run(pairs_job, jobs, workers, progress, egress, clean)


def write_corpus(folder, corpus, data):
    path = folder / f"{corpus}.jsonl"
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--egress", type=Path, required=True)
    # Each keeps some hundred megabytes of rendered outputs.
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    args = parser.parse_args()
    egress = tomllib.loads(args.egress.read_text(encoding="utf-8"))["destination"]
    write = functools.partial(write_corpus, args.out)
    if "inbox" in args.corpora:
        write("inbox", render_inbox())
    corpora = [corpus for corpus in args.corpora if corpus != "inbox"]
    if not corpora:
        return
    base, pairs = replay_all(corpora, egress, args.workers)

    def scenarios(attack_names, transform):
        for name in suites.suites():
            yield from copy.deepcopy(base[name][1])
            for attack in attack_names:
                yield from pairs[name, attack, transform]

    for corpus in corpora:
        if corpus == "ground":
            write(corpus, render(corpus, [scenario for name in suites.suites() for scenario in base[name][0]]))
            continue
        attack_names, transforms = zip(*plan(corpus))
        about = {"attacks": attack_names} | ({"transform": transforms[0]} if transforms[0] else {})
        data = render(corpus, list(scenarios(attack_names, transforms[0])), **about)
        if corpus == "attacks" and data != render(corpus, list(scenarios(attack_names, "identity")), **about):
            raise ValueError("the identity transform does not give the attacks corpus")
        write(corpus, data)


if __name__ == "__main__":
    main()
