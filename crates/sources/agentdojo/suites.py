"""AgentDojo's suites: imported without model clients, with a pinned clock, and with environments that are built fast."""

import datetime
import functools
import importlib.util
import pickle
import sys
import types
from pathlib import Path

import email_validator
import yaml

BENCHMARK = "v1.2"
PACKAGE = "agentdojo 0.1.35"
CLOCK = (2024, 5, 15, 12, 0, 0)


def _register_without_running(name, path=None, **members):
    module = types.ModuleType(name)
    if path is not None:
        module.__path__ = [str(path)]
    vars(module).update(members)
    sys.modules[name] = module


# Importing `agentdojo.agent_pipeline` as a package imports the client libraries of four model vendors. The suites and attacks
# need three of its modules, none of which talks to a model: so the package is registered without running its `__init__`, and
# the one constant that is asked of a client module is given here.
_ROOT = Path(importlib.util.find_spec("agentdojo").submodule_search_locations[0])
_register_without_running("agentdojo.agent_pipeline", _ROOT / "agent_pipeline")
_register_without_running("agentdojo.agent_pipeline.llms.google_llm", EMPTY_FUNCTION_NAME=None)

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.default_suites.v1.tools import calendar_client, cloud_drive_client, email_client  # noqa: E402
from agentdojo.functions_runtime import FunctionsRuntime  # noqa: E402
from agentdojo.task_suite import get_suites  # noqa: E402
from agentdojo.task_suite.task_suite import TaskSuite, read_suite_file  # noqa: E402

from hash_order import hash_ordered  # noqa: E402


class _PinnedDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        # A new object each time: YAML marks an object that it meets twice with an anchor.
        return datetime.datetime(*CLOCK, tzinfo=tz)


def _pin_clock(module):
    pinned = types.ModuleType("datetime")
    vars(pinned).update({name: value for name, value in vars(datetime).items() if not name.startswith("__")})
    pinned.datetime = _PinnedDatetime
    module.datetime = pinned


_pin_clock(email_client)
_pin_clock(cloud_drive_client)
# Creating an event passes the participants through a set.
calendar_client.set = hash_ordered

# Most of the time of building an environment is spent on checking the same few addresses.
email_validator.validate_email = functools.cache(email_validator.validate_email)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Environments:
    """A suite's environment under any injection, equal to `load_and_inject_default_environment`.

    AgentDojo puts the injections into the environment's YAML text and parses all of it. Every placeholder stands inside a
    double-quoted scalar, so parsing the scalars that changed and validating the tree gives the same environment."""

    def __init__(self, suite):
        self.suite = suite
        self.type = suite.environment_type
        self.defaults = suite.get_injection_vector_defaults()
        self.text = read_suite_file(suite.name, "environment.yaml", suite.data_path)
        self.tree = yaml.load(self.text.format(**self.defaults), _LOADER)
        self.templates = list(self._find_templates(yaml.compose(self.text, _LOADER), ()))
        self.blobs = {}

    def _find_templates(self, node, path):
        if isinstance(node, yaml.ScalarNode):
            source = self.text[node.start_mark.index : node.end_mark.index]
            if "{" in source:
                if source[0] != '"' or source[-1] != '"':
                    raise ValueError(f"{self.suite.name}: a placeholder outside a double-quoted scalar: {source!r}")
                yield path, source
        elif isinstance(node, yaml.SequenceNode):
            for index, child in enumerate(node.value):
                yield from self._find_templates(child, (*path, index))
        else:
            for key, child in node.value:
                yield from self._find_templates(child, (*path, key.value))

    def load(self, injections):
        """A fresh environment that carries the injections (vector to text)."""
        key = tuple(sorted(injections.items()))
        if key not in self.blobs:
            self.blobs[key] = pickle.dumps(self.type.model_validate(self._inject(injections)), pickle.HIGHEST_PROTOCOL)
        return pickle.loads(self.blobs[key])

    def _inject(self, injections):
        unknown = injections.keys() - self.defaults.keys()
        if unknown:
            raise ValueError(f"{self.suite.name} has no placeholder {sorted(unknown)}")
        values = {**self.defaults, **injections}
        tree = self.tree
        for path, source in self.templates:
            if any("{" + vector + "}" in source for vector in injections):
                scalar = yaml.load(source.format(**values), _LOADER)
                if not isinstance(scalar, str):
                    raise ValueError(f"{self.suite.name}: the injection is not text any more at {path}: {scalar!r}")
                tree = _replace(tree, path, scalar)
        return tree

    def forget(self):
        """Frees the environments made so far."""
        self.blobs.clear()


def _replace(tree, path, value):
    if not path:
        return value
    copy = tree.copy()
    copy[path[0]] = _replace(tree[path[0]], path[1:], value)
    return copy


@functools.cache
def environments(suite_name):
    return Environments(suites()[suite_name])


@functools.cache
def suites():
    """The suites by name, in AgentDojo's order."""
    return get_suites(BENCHMARK)


def tasks(suite_name):
    """The suite's user tasks and injection tasks, each by id."""
    return suites()[suite_name].user_tasks, suites()[suite_name].injection_tasks


_load_whole = TaskSuite.load_and_inject_default_environment
# The attacks build environments too.
TaskSuite.load_and_inject_default_environment = lambda suite, injections: environments(suite.name).load(injections)


def check_environments(suite_name, text):
    """Fails unless an environment that carries the text in every placeholder is the one that AgentDojo would build."""
    suite = suites()[suite_name]
    for injections in ({}, {vector: text for vector in environments(suite_name).defaults}):
        if environments(suite_name).load(injections) != _load_whole(suite, injections):
            raise ValueError(f"{suite_name}: the environment differs from AgentDojo's own")


@functools.cache
def runtime(suite_name):
    return FunctionsRuntime(suites()[suite_name].tools)


_RENDERED = {}


def render(result):
    """A tool's result as AgentDojo formats it for a model."""
    # The pickle tells shared objects apart as YAML's anchors do.
    key = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    if key not in _RENDERED:
        _RENDERED[key] = tool_result_to_str(result)
    return _RENDERED[key]
