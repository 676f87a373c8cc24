"""What CPython's email package reads: for each message one JSON line with its subject and its text parts."""

import email
import email.policy
import json
import pathlib
import sys


def text(part):
    try:
        return part.get_content()
    except Exception:
        payload = part.get_payload(decode=True)
        return None if payload is None else payload.decode("latin-1")


def leaves(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    try:
        subject = str(message["subject"] or "")
    except Exception:
        subject = ""
    parts = []
    for part in message.walk():
        if part.get_content_maintype() == "text" and not part.is_multipart():
            found = text(part)
            if isinstance(found, str):
                parts.append([part.get_content_type(), found])
    return {"subject": subject, "parts": parts}


def main():
    for path in sys.stdin.read().split("\n"):
        if path:
            line = json.dumps(leaves(pathlib.Path(path).read_bytes()), ensure_ascii=True)
            sys.stdout.write(line + "\n")


main()
