"""CPython's email package with the default policy, doing the naive walk: subject, sender, plain text or else stripped HTML.

Prints the messages, the processor seconds of each repeat, and the characters found, so that the work can't be skipped.
"""

import email
import email.policy
import pathlib
import re
import sys
import time

TAG = re.compile(r"<[^>]*>")


def content(part):
    try:
        return part.get_content()
    except Exception:  # an unknown charset, a damaged encoding: the bytes as they are
        payload = part.get_payload(decode=True)
        return (payload or b"").decode("latin-1")


def header(message, name):
    try:
        return str(message[name] or "")
    except Exception:
        return ""


def naive(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    out = [header(message, "subject"), header(message, "from")]
    plain, html = [], []
    for part in message.walk():
        kind = part.get_content_type()
        if kind == "text/plain":
            plain.append(content(part))
        elif kind == "text/html":
            html.append(TAG.sub(" ", content(part)))
    return "\n".join(out + (plain or html))


def main():
    repeats, folders = int(sys.argv[1]), sys.argv[2:]
    paths = sorted(p for folder in folders for p in pathlib.Path(folder).rglob("*") if p.is_file())
    messages = [p.read_bytes() for p in paths]
    seconds, characters = [], 0
    for _ in range(repeats):
        started = time.process_time()
        characters = 0
        for raw in messages:
            characters += len(naive(raw))
        seconds.append(time.process_time() - started)
    print("messages", len(messages))
    print("seconds", *seconds)
    print("characters", characters)


main()
