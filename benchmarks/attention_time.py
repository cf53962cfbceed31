"""Time each step of attention over many sizes, and record it: ``python benchmarks/attention_time.py``.

Chapter 07 quotes the record, attention_time.json beside this file. One thread, float64, all sizes and steps in turn in
each round, so that what else the machine does falls on all of them alike. A report, not a test.

On Linux, GLIBC_TUNABLES=glibc.malloc.mmap_threshold=8589934592:glibc.malloc.trim_threshold=17179869184 in the
environment makes freed memory stay with the process: how much of the softmax's time is memory that is new?
"""

import argparse
import json
import os
import platform
import re
import statistics
import time
from pathlib import Path

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np  # noqa: E402  (it reads the number of threads once)

from attention_lib import attention_scores, softmax  # noqa: E402

RECORD = Path(__file__).with_suffix(".json")
SWEEPS = {
    "tokens": [(n, 256) for n in (256, 512, 1024, 2048, 4096, 8192)],
    "features": [(1024, d) for d in (64, 128, 256, 512, 1024, 2048)],
}


def steps(n, d):
    """Return the steps of self-attention with n tokens of d features and one head, by name, ready to run."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    W_q, W_k, W_v, W_o = rng.normal(size=(4, d, d)) / np.sqrt(d)
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = attention_scores(Q, K)
    weights = softmax(scores)
    mixture = weights @ V
    return {
        "projections": lambda: (X @ W_q, X @ W_k, X @ W_v, mixture @ W_o),
        "scores": lambda: attention_scores(Q, K),
        "softmax": lambda: softmax(scores),
        "mixing": lambda: weights @ V,
    }


def measure(sizes, rounds):
    """Return the times of each step, in milliseconds, a list a size."""
    times = {}
    ready = [steps(*size) for size in sizes]
    for round_ in range(rounds + 1):
        for place, each in enumerate(ready):
            for name, run in each.items():
                start = time.perf_counter()
                run()
                if round_:  # the first warms up
                    taken = times.setdefault(name, [[] for _ in sizes])
                    taken[place].append(1000 * (time.perf_counter() - start))
    return times


def processor():
    """Return the processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def text_of(record):
    """Return the record as JSON, with a list of numbers on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[-0-9.,\s]+\]", lambda match: f"[{' '.join(match[0][1:-1].split())}]", text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--record", type=Path, default=RECORD, help="where to write; else over the book's record")
    arguments = parser.parse_args()
    record = {
        "machine": f"{processor()}, one thread",
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "rounds": arguments.rounds,
        "unit": "ms",
        "load before": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }
    for sweep, sizes in SWEEPS.items():
        record[sweep] = {"n": [n for n, _ in sizes], "d": [d for _, d in sizes]}
        for name, taken in measure(sizes, arguments.rounds).items():
            lowest, median = [min(each) for each in taken], [statistics.median(each) for each in taken]
            record[sweep][name] = [round(each, 2) for each in lowest]
            record[sweep][f"{name}, median"] = [round(each, 2) for each in median]
            print(sweep, name, *record[sweep][name], "median", *record[sweep][f"{name}, median"], flush=True)
    arguments.record.write_text(text_of(record), "utf8")


if __name__ == "__main__":
    main()
