"""AgentDojo's inbox mails that carry a placeholder, with mail-related goals put into them."""

import itertools
import re

import attacks
import suites

SUITE = "workspace"
SCENARIOS = 30
FORMULATIONS = (
    "direct",
    "ignore_previous",
    "system_message",
    "injecagent",
    "important_instructions",
    "tool_knowledge",
)


def carriers():
    """Mails of the inbox whose body holds a placeholder: (placeholder, mail), in the inbox's order."""
    environments = suites.environments(SUITE)
    mails = environments.load({vector: "{" + vector + "}" for vector in environments.defaults}).inbox.initial_emails
    for mail in mails:
        for vector in re.findall(r"{(\w+)}", mail.body):
            yield vector, mail


def scenarios():
    """Goals about mail, in the suite's order, each in every carrier; the first thirty."""
    tasks = suites.suites()[SUITE].injection_tasks.values()
    about_mail = [task for task in tasks if re.search(r"\be-?mails?\b", task.GOAL, re.IGNORECASE)]
    return list(itertools.islice(itertools.product(about_mail, carriers()), SCENARIOS))


def records():
    """One record a scenario and formulation."""
    # Any user task will do: what an attack writes does not depend on it, only where.
    user_id = next(iter(suites.suites()[SUITE].user_tasks))
    for task, (vector, mail) in scenarios():
        for formulation in FORMULATIONS:
            written = set(attacks.payloads(SUITE, user_id, task.ID, formulation).values())
            if len(written) != 1:
                raise ValueError(f"{SUITE}/{task.ID}: {formulation} writes different texts")
            payload = written.pop()
            yield {
                "id": f"{SUITE}/{task.ID}/{vector}/{formulation}",
                "scenario": f"{SUITE}/{task.ID}/{vector}",
                "suite": SUITE,
                "injection_task": task.ID,
                "goal": task.GOAL,
                "formulation": formulation,
                "payload": payload,
                "carrier": {
                    "id": mail.id_,
                    "placeholder": vector,
                    "from": mail.sender,
                    "to": list(mail.recipients),
                    "cc": list(mail.cc),
                    "subject": mail.subject,
                    "date": mail.timestamp.isoformat(),
                    "before": mail.body.split("{" + vector + "}")[0],
                    "after": mail.body.split("{" + vector + "}")[1],
                },
                "body": mail.body.replace("{" + vector + "}", payload),
            }
