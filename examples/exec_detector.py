#!/usr/bin/env python3
"""A detector as a program: reads one JSON message a line, answers one JSON verdict a line.

    mailbench score --detector 'mine=exec:python3 examples/exec_detector.py' --manifest mail.jsonl --out-dir run

It counts words that tell a reader to hurry or a machine to obey: a toy, to show the protocol."""

import json
import sys

WORDS = ("ignore", "instructions", "assistant", "forward", "password", "urgent", "verify")


def judge(message):
    text = message["text"].lower()
    found = [word for word in WORDS if word in text]
    hidden = any(segment["type"] == "html_hidden" for segment in message["segments"])
    score = min(1.0, 0.2 * len(found) + (0.2 if hidden and found else 0.0))
    return {"score": score, "categories": found}


for line in sys.stdin:
    message = json.loads(line)
    try:
        verdict = judge(message)
    except Exception as error:  # Said as an error of this message, never as a low score.
        verdict = {"error": str(error)}
    print(json.dumps({"id": message["id"], **verdict}), flush=True)
