"""The Python way to score texts: windows in the order of the texts, in batches of sixteen.

    python_way.py transformers MODEL-FOLDER THREADS WINDOW STRIDE < TEXTS
    python_way.py onnxruntime MODEL.onnx TOKENIZER.json THREADS WINDOW STRIDE < TEXTS

The first is the text-classification pipeline of transformers on PyTorch. The second, where PyTorch cannot be had, is ONNX Runtime on our
own graph, padded as the model's tokenizer pads. MODEL-FOLDER is what `deveval models fetch jailguard` makes, TEXTS what `deveval texts
--with-text` prints. Prints the measures of `deveval score --timing`, and the sum of all scores.
"""

import json
import math
import pathlib
import resource
import sys
import time

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


def unpadded(file):
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Transformers:
    def __init__(self, folder, threads, window):
        import torch
        import transformers
        from safetensors.torch import load_file
        from torch import nn

        folder = pathlib.Path(folder)
        head = json.loads((folder / "head.json").read_text())
        layers = [("w_h1", "b_h1"), ("w_h2", "b_h2"), ("w_out", "b_out")]

        class Guard(transformers.BertPreTrainedModel):
            """The encoder, the mean of its tokens, and the head on it."""

            def __init__(self, config):
                super().__init__(config)
                self.bert = transformers.BertModel(config, add_pooling_layer=False)
                sizes = [config.hidden_size, *(len(head[w]) for w, _ in layers)]
                self.head = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))
                self.post_init()

            def forward(self, input_ids, attention_mask=None, token_type_ids=None, **_):
                encoded = self.bert(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
                kept = attention_mask.unsqueeze(-1).to(encoded.last_hidden_state.dtype)
                x = nn.functional.normalize((encoded.last_hidden_state * kept).sum(1) / kept.sum(1))
                for i, layer in enumerate(self.head):
                    x = layer(x if i == 0 else torch.relu(x))
                return transformers.modeling_outputs.SequenceClassifierOutput(logits=x)

        config = transformers.BertConfig.from_json_file(folder / "config.json")
        config.id2label, config.label2id = {0: "INJECTION"}, {"INJECTION": 0}
        weights = {f"bert.{name}": x for name, x in load_file(folder / "model.safetensors").items()}
        for i, (w, b) in enumerate(layers):
            weights[f"head.{i}.weight"], weights[f"head.{i}.bias"] = torch.tensor(head[w]), torch.tensor(head[b])
        model = Guard(config)
        absent = model.load_state_dict(weights, strict=False).missing_keys
        if absent:
            raise SystemExit(f"{folder}: no weights for {', '.join(absent)}")
        torch.set_num_threads(threads)
        # It would list every class that it knows, since this one is ours.
        transformers.utils.logging.set_verbosity(transformers.utils.logging.CRITICAL)
        self.tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]", model_max_length=window + 2
        )
        self.classify = transformers.pipeline(
            "text-classification", model=model.eval(), tokenizer=self.tokenizer, batch_size=BATCH, device="cpu"
        )
        self.cutter = unpadded(folder / "tokenizer.json")
        self.name = f"transformers {transformers.__version__}, PyTorch {torch.__version__}"

    def scores(self, pieces):
        found = self.classify(({"text": p} for p in pieces), truncation=True, function_to_apply="sigmoid")
        return [result["score"] for result in found]


class OnnxRuntime:
    def __init__(self, graph, tokenizer, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(tokenizer)
        if self.tokenizer.padding is None:
            self.tokenizer.enable_padding()
        self.cutter = unpadded(tokenizer)
        self.name = f"Python, ONNX Runtime {onnxruntime.__version__}"

    def scores(self, pieces):
        import numpy

        scores = []
        for at in range(0, len(pieces), BATCH):
            batch = self.tokenizer.encode_batch(pieces[at : at + BATCH])
            ids = numpy.array([e.ids for e in batch], dtype=numpy.int64)
            kept = numpy.array([e.attention_mask for e in batch], dtype=numpy.float32)[:, :, None]
            positions = numpy.arange(ids.shape[1], dtype=numpy.int64)
            first = numpy.zeros(1, dtype=numpy.int64)
            inputs = {"ids": ids, "kept": kept, "positions": positions, "first_type": first}
            scores += [1 / (1 + math.exp(-float(x))) for x in self.session.run(["logits"], inputs)[0][:, 0]]
        return scores


def main():
    way, *files = sys.argv[1:-3]
    threads, window, stride = map(int, sys.argv[-3:])
    texts = [json.loads(line)["text"] for line in sys.stdin]
    model = Transformers(*files, threads, window) if way == "transformers" else OnnxRuntime(*files, threads)

    start, before = time.perf_counter(), time.process_time()
    owners, pieces = [], []
    for owner, text in enumerate(texts):
        for piece in cut(model.cutter, text, window, stride):
            owners.append(owner)
            pieces.append(piece)
    scores = [0.0] * len(texts)
    for owner, score in zip(owners, model.scores(pieces)):
        scores[owner] = max(scores[owner], score)
    seconds, processor_seconds = time.perf_counter() - start, time.process_time() - before
    measures = {
        "engine": model.name,
        "texts": len(texts),
        "windows": len(pieces),
        "windows_run": len(pieces),
        "tokens_run": sum(min(len(e.ids), window + 2) for e in model.cutter.encode_batch(pieces)),
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "sum_of_scores": sum(scores),
    }
    print(json.dumps(measures))


if __name__ == "__main__":
    main()
