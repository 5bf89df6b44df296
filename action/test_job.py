"""Runs the steps of action.yml as a runner does: expressions, environment, outputs. `uses` steps are only noted."""

import os
import pathlib
import re
import subprocess

import yaml

ACTION = pathlib.Path(__file__).resolve().parent
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
NAME = re.compile(r"'[^']*'|[a-z_][\w.-]*(?:\(\))?|&&|\|\||!=|==|!|\(|\)")


class Job:
    """One use of the action, with its inputs and the event that began it."""

    def __init__(self, folder, inputs=(), github=(), environment=()):
        self.definition = yaml.safe_load((ACTION / "action.yml").read_text())
        given = {name: self.filled(str(spec.get("default", "")), {}) for name, spec in self.definition["inputs"].items()}
        unknown = set(dict(inputs)) - set(given)
        if unknown:
            raise KeyError(f"action.yml has no input {unknown}")
        self.facts = {f"inputs.{name}": value for name, value in {**given, **dict(inputs)}.items()}
        self.facts.update({f"github.{name}": value for name, value in dict(github).items()})
        self.facts.update({"runner.os": "Linux", "runner.arch": "X64", "strategy.job-index": "0", "strategy.job-total": "1"})
        self.folder = folder
        self.summary = folder / "summary.md"
        self.environment = {**os.environ, **self.runner_variables(), **dict(environment)}
        self.used, self.log, self.failed = [], "", False

    def runner_variables(self):
        temp = self.folder / "runner"
        temp.mkdir(exist_ok=True)
        return {
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_JOB": "bench",
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_RUN_ID": "77",
            "RUNNER_TEMP": str(temp),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }

    def run(self):
        """All steps in order; after a failure only those that ask for it. Returns self."""
        for step in self.definition["runs"]["steps"]:
            condition = step.get("if", "success()")
            asked = condition if "always()" in condition else f"success() && ({condition})"
            if not self.value(asked):
                continue
            if "uses" in step:
                self.used.append((step["uses"], {key: self.filled(str(v)) for key, v in step["with"].items()}))
            else:
                self.run_step(step)
        return self

    def run_step(self, step):
        outputs = self.folder / "outputs"
        outputs.write_text("")
        variables = {name: self.filled(value) for name, value in step.get("env", {}).items()}
        place = self.folder / self.filled(step.get("working-directory", "."))
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=place,
            env={**self.environment, **variables, "GITHUB_OUTPUT": str(outputs)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.log += done.stdout + done.stderr
        self.failed = self.failed or done.returncode != 0
        text = outputs.read_text()
        for name, _, value in re.findall(r"^([\w-]+)<<(.+)\n((?:.*\n)*?)\2\n", text, re.MULTILINE):
            self.facts[f"steps.{step.get('id')}.outputs.{name}"] = value.rstrip("\n")

    def outputs(self):
        """The outputs of the action."""
        return {name: self.filled(spec["value"]) for name, spec in self.definition["outputs"].items()}

    def filled(self, text, facts=None):
        return EXPRESSION.sub(lambda found: str(self.value(found[1], facts)), text)

    def value(self, expression, facts=None):
        """The value of an expression. A name without a value is an empty text, as on a runner."""
        facts = self.facts if facts is None else facts
        words = {"&&": " and ", "||": " or ", "!": " not ", "always()": "True", "success()": str(not getattr(self, "failed", False))}

        def word(found):
            token = found[0]
            if token.startswith("'") or token in ("(", ")", "==", "!="):
                return token
            return words.get(token) or repr(str(facts.get(token, "")))

        return eval(NAME.sub(word, expression.strip()), {"__builtins__": {}})
