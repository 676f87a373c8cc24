#!/usr/bin/env python3
"""A defense as a program: reads one JSON call a line, answers one JSON decision a line.

    deveval --corpus pairs --defense 'exec:python3 examples/exec_defense.py'

It rules as the reference defense flow-guard does: an egress call must not carry an argument that is not trusted."""

import json
import sys


def decide(call):
    if call["egress"]:
        for arg in call["args"]:
            if arg["provenance"] != "trusted":
                return {"decision": "deny", "reason": f"{call['tool']} carries {arg['name']}, which is not trusted"}
    return {"decision": "allow"}


for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps({"id": call["id"], **decide(call)}), flush=True)
