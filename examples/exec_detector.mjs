#!/usr/bin/env node
// A detector as a program: reads one JSON message a line, answers one JSON verdict a line.
//
//     mailbench score --detector 'mine=exec:node examples/exec_detector.mjs' --manifest mail.jsonl --out-dir run
//
// It counts words that tell a reader to hurry or a machine to obey: a toy, to show the protocol.

import { createInterface } from "node:readline";

const WORDS = ["ignore", "instructions", "assistant", "forward", "password", "urgent", "verify"];

function judge(message) {
  const text = message.text.toLowerCase();
  const found = WORDS.filter((word) => text.includes(word));
  const hidden = message.segments.some((segment) => segment.type === "html_hidden");
  const score = Math.min(1, 0.2 * found.length + (hidden && found.length > 0 ? 0.2 : 0));
  return { score, categories: found };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  let verdict;
  try {
    verdict = judge(message);
  } catch (error) {
    // Said as an error of this message, never as a low score.
    verdict = { error: String(error) };
  }
  process.stdout.write(JSON.stringify({ id: message.id, ...verdict }) + "\n");
}
