"""The Python way to score texts: windows in the order of the texts, batches of sixteen, padded as the model's tokenizer pads.

    python_way.py MODEL.onnx TOKENIZER.json THREADS WINDOW STRIDE < TEXTS

TEXTS is what `deveval texts --with-text` prints. Prints the same measures as `deveval score --timing`, and the sum of all scores.
"""

import json
import math
import resource
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer

BATCH = 16


def cut(tokenizer, text, window, stride):
    whole = tokenizer.encode(text, add_special_tokens=False)
    n = len(whole.ids)
    if n <= window:
        return [text]
    pieces, start = [], 0
    while True:
        end = min(start + window, n)
        pieces.append(text[whole.offsets[start][0] : whole.offsets[end - 1][1]])
        if end == n:
            return pieces
        start += stride


def main():
    model, tokenizer_file, (threads, window, stride) = sys.argv[1], sys.argv[2], map(int, sys.argv[3:6])
    texts = [json.loads(line)["text"] for line in sys.stdin]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    tokenizer, cutter = Tokenizer.from_file(tokenizer_file), Tokenizer.from_file(tokenizer_file)
    cutter.no_truncation()
    cutter.no_padding()
    if tokenizer.padding is None:
        tokenizer.enable_padding()

    start, before = time.perf_counter(), time.process_time()
    owners, pieces = [], []
    for owner, text in enumerate(texts):
        for piece in cut(cutter, text, window, stride):
            owners.append(owner)
            pieces.append(piece)
    scores, tokens = [0.0] * len(texts), 0
    for at in range(0, len(pieces), BATCH):
        batch = tokenizer.encode_batch(pieces[at : at + BATCH])
        ids = numpy.array([e.ids for e in batch], dtype=numpy.int64)
        kept = numpy.array([e.attention_mask for e in batch], dtype=numpy.float32)[:, :, None]
        tokens += int(kept.sum())
        positions = numpy.arange(ids.shape[1], dtype=numpy.int64)
        first = numpy.zeros(1, dtype=numpy.int64)
        logits = session.run(["logits"], {"ids": ids, "kept": kept, "positions": positions, "first_type": first})[0]
        for owner, logit in zip(owners[at : at + BATCH], logits[:, 0]):
            scores[owner] = max(scores[owner], 1 / (1 + math.exp(-float(logit))))
    measures = {
        "engine": f"Python, ONNX Runtime {onnxruntime.__version__}",
        "texts": len(texts),
        "windows": len(pieces),
        "windows_run": len(pieces),
        "tokens_run": tokens,
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - before,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "sum_of_scores": sum(scores),
    }
    print(json.dumps(measures))


if __name__ == "__main__":
    main()
