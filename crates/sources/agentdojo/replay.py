"""Replaying ground-truth calls, and labelling their arguments."""

import functools

import attacks
import suites


def values(value):
    """An argument's values as text: lists flatten, and None gives no value."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in values(item)]
    return [str(value)]


@functools.cache
def _environment_json(suite_name):
    return suites.environments(suite_name).load({}).model_dump_json().lower()


def _occur(texts, where):
    return all(text.lower() in where for text in texts if text)


def _argument(suite_name, name, value, prompt):
    texts = values(value)
    argument = {"name": name, "text": " ".join(texts)}
    if prompt is None:
        argument["provenance"] = "untrusted_web"
    elif _occur(texts, prompt.lower()):
        argument.update(provenance="trusted", origin="prompt")
    else:
        found = _occur(texts, _environment_json(suite_name))
        argument.update(provenance="untrusted_web", origin="environment" if found else "neither")
    return argument


def describe(suite_name, call, egress, prompt):
    """The record of one call; `prompt` is None for a call that the injection asks for."""
    record = {
        "tool": call.function,
        "args": [_argument(suite_name, name, value, prompt) for name, value in call.args.items()],
    }
    if prompt is None:
        record["injected"] = True
    if call.function in egress:
        record["dest"] = ",".join(values(call.args.get(egress[call.function])))
    return record


def _run(suite_name, environment, calls):
    """Runs the calls in the environment; yields each with the output that a model would read."""
    for call in calls:
        result, error = suites.runtime(suite_name).run_function(environment, call.function, call.args)
        yield call, suites.render(result) if error is None else error


def replay(suite_name, injections, user_id, injection_id=None):
    """Replays the user task and then the injection task in one environment: (task, call, output), in order."""
    suite = suites.suites()[suite_name]
    user_task = suite.user_tasks[user_id]
    environment = user_task.init_environment(suites.environments(suite_name).load(injections))
    steps = [("user", *step) for step in _run(suite_name, environment, user_task.ground_truth(environment))]
    if injection_id is not None:
        task = suite.injection_tasks[injection_id]
        steps += [("injection", *step) for step in _run(suite_name, environment, task.ground_truth(environment))]
    return steps


def clean_outputs(suite_name):
    """Outputs in the environment without injection, step by step, of each user task with each injection task (or None)."""
    suite = suites.suites()[suite_name]
    return {
        (user_id, injection_id): [output for _, _, output in replay(suite_name, {}, user_id, injection_id)]
        for user_id in suite.user_tasks
        for injection_id in (None, *suite.injection_tasks)
    }


def ground(suite_name, egress):
    """Each task's ground-truth calls, without running them."""
    suite = suites.suites()[suite_name]
    for user_id, task in suite.user_tasks.items():
        environment = task.init_environment(suites.environments(suite_name).load({}))
        calls = [describe(suite_name, call, egress, task.PROMPT) for call in task.ground_truth(environment)]
        yield _benign(suite_name, user_id, calls)
    for injection_id, task in suite.injection_tasks.items():
        calls = task.ground_truth(suites.environments(suite_name).load({}))
        yield {
            "id": f"{suite_name}/{injection_id}",
            "suite": suite_name,
            "kind": "injection",
            "injection_task": injection_id,
            "goal": task.GOAL,
            "prompt": "",
            "calls": [describe(suite_name, call, egress, None) for call in calls],
        }


def _benign(suite_name, user_id, calls):
    return {
        "id": f"{suite_name}/{user_id}",
        "suite": suite_name,
        "kind": "benign",
        "user_task": user_id,
        "prompt": suites.suites()[suite_name].user_tasks[user_id].PROMPT,
        "calls": calls,
    }


def _describe_steps(suite_name, steps, egress, prompt):
    """The calls with their outputs; the last call's output is read by no call and left out."""
    calls = []
    for index, (task, call, output) in enumerate(steps):
        calls.append(describe(suite_name, call, egress, prompt if task == "user" else None))
        if index + 1 < len(steps):
            calls[-1]["output"] = output
    return calls


def benign(suite_name, egress):
    """Each user task replayed in the environment without injection."""
    for user_id, task in suites.suites()[suite_name].user_tasks.items():
        steps = replay(suite_name, {}, user_id)
        yield _benign(suite_name, user_id, _describe_steps(suite_name, steps, egress, task.PROMPT))


def pairs(suite_name, attack, transform, egress, clean, clean_anywhere):
    """Each user task with each injection task of the suite, in an environment that carries the injection."""
    suite = suites.suites()[suite_name]
    for user_id, user_task in suite.user_tasks.items():
        for injection_id in suite.injection_tasks:
            injections = attacks.payloads(suite_name, user_id, injection_id, attack, transform)
            steps = replay(suite_name, injections, user_id, injection_id)
            calls = _describe_steps(suite_name, steps, egress, user_task.PROMPT)
            lockstep = clean[user_id, injection_id]
            for index, call in enumerate(calls[:-1]):
                same = index < len(lockstep) and call["output"] == lockstep[index]
                if not same and call["output"] not in clean_anywhere:
                    call["carrying"] = True
            yield {
                "id": f"{suite_name}/{user_id}/{injection_id}/{attack}",
                "suite": suite_name,
                "kind": "injection",
                "user_task": user_id,
                "injection_task": injection_id,
                "attack": attack,
                "twin": f"{suite_name}/{user_id}",
                "goal": attacks.transformed(suite_name, injection_id, transform).GOAL,
                "prompt": user_task.PROMPT,
                "calls": calls,
            }
    suites.environments(suite_name).forget()
