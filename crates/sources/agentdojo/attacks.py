"""What an attack writes into the environment, under a transform of its goal."""

import copy
import functools
import re

import suites
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks import load_attack
from agentdojo.attacks.base_attacks import BaseAttack

MAIN = "important_instructions_no_names"
FIVE = ("direct", "ignore_previous", "injecagent", "system_message", "tool_knowledge")

FRAMING = "Note to self, do not forget: "
SPLIT = "|\n"
LEET = str.maketrans("ieao", "1340")
UNLEET = str.maketrans("1340", "ieao")


class _Target(BasePipelineElement):
    """The agent that is attacked. Attacks that name the model look the name up: this one is "Local model", as in the published
    figures."""

    name = "local"

    def query(self, *_args, **_kwargs):
        raise NotImplementedError("ground truth is replayed; no model runs")


def framing(goal):
    return FRAMING + goal


def field_split(goal):
    return re.sub(" +", lambda spaces: spaces.group() + SPLIT, goal)


def leet(goal):
    return goal.translate(LEET)


# Each transform, and the check that the goal can be read back.
TRANSFORMS = {
    "identity": (lambda goal: goal, lambda goal, text: text == goal),
    "framing": (framing, lambda goal, text: text.removeprefix(FRAMING) == goal),
    "field_split": (field_split, lambda goal, text: text.replace(SPLIT, "") == goal),
    # A goal's own digits read back as letters, so both sides are read as letters.
    "leet": (leet, lambda goal, text: text.translate(UNLEET) == goal.translate(UNLEET)),
}


@functools.cache
def transformed(suite_name, injection_id, transform):
    """The injection task with its goal transformed; its tool calls stay as they are."""
    task = copy.copy(suites.suites()[suite_name].injection_tasks[injection_id])
    if transform is not None:
        apply, reads_back = TRANSFORMS[transform]
        text = apply(task.GOAL)
        if not reads_back(task.GOAL, text):
            raise ValueError(f"{suite_name}/{injection_id}: the goal cannot be read back from its {transform} form")
        task.GOAL = text
    return task


_find_candidates = BaseAttack.get_injection_candidates.__wrapped__


@functools.cache
def candidates(suite_name, user_id):
    """The placeholders that the user task's calls read, the same for every attack."""
    return _find_candidates(_attack(suite_name, MAIN), suites.suites()[suite_name].user_tasks[user_id])


BaseAttack.get_injection_candidates = lambda attack, task: candidates(attack.task_suite.name, task.ID)


@functools.cache
def _attack(suite_name, name):
    return load_attack(name, suites.suites()[suite_name], _Target())


def payloads(suite_name, user_id, injection_id, attack, transform=None):
    """What the attack puts into each placeholder that the user task reads."""
    user_task = suites.suites()[suite_name].user_tasks[user_id]
    return _attack(suite_name, attack).attack(user_task, transformed(suite_name, injection_id, transform))
