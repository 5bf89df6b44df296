"""Runs the steps of action.yml at the root as a runner does: expressions, environment, outputs. `uses` steps are only recorded."""

import os
import pathlib
import re
import subprocess

import yaml

ACTION = pathlib.Path(__file__).resolve().parent
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
TOKEN = re.compile(r"'[^']*'|[a-z_][\w.-]*(?:\(\))?|&&|\|\||!=|==|!|\(|\)")


class Job:
    """One use of the action, with its inputs and the event that started it."""

    def __init__(self, folder, inputs=(), github=(), environment=()):
        self.definition = yaml.safe_load((ACTION.parent / "action.yml").read_text())
        defaults = {name: self.substitute(str(spec.get("default", "")), {}) for name, spec in self.definition["inputs"].items()}
        unknown = set(dict(inputs)) - set(defaults)
        if unknown:
            raise KeyError(f"action.yml has no input {unknown}")
        self.context = {f"inputs.{name}": value for name, value in {**defaults, **dict(inputs)}.items()}
        self.context.update({f"github.{name}": value for name, value in dict(github).items()})
        self.context.update({"runner.os": "Linux", "runner.arch": "X64", "strategy.job-index": "0", "strategy.job-total": "1"})
        self.folder = folder
        self.summary = folder / "summary.md"
        self.environment = {**os.environ, **self.runner_variables(), **dict(environment)}
        self.uses, self.log, self.failed = [], "", False

    def runner_variables(self):
        temp = self.folder / "runner"
        temp.mkdir(exist_ok=True)
        return {
            "GITHUB_ACTION_PATH": str(ACTION.parent),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_JOB": "bench",
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_RUN_ID": "77",
            "RUNNER_TEMP": str(temp),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }

    def run(self):
        """Runs all steps in order; after a failure only those with `always()`. Returns self."""
        for step in self.definition["runs"]["steps"]:
            condition = step.get("if", "success()")
            full_condition = condition if "always()" in condition else f"success() && ({condition})"
            if not self.evaluate(full_condition):
                continue
            if "uses" in step:
                self.uses.append((step["uses"], {key: self.substitute(str(v)) for key, v in step["with"].items()}))
            else:
                self.run_step(step)
        return self

    def run_step(self, step):
        outputs = self.folder / "outputs"
        outputs.write_text("")
        variables = {name: self.substitute(value) for name, value in step.get("env", {}).items()}
        folder = self.folder / self.substitute(step.get("working-directory", "."))
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**self.environment, **variables, "GITHUB_OUTPUT": str(outputs)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.log += process.stdout + process.stderr
        self.failed = self.failed or process.returncode != 0
        text = outputs.read_text()
        for name, _, value in re.findall(r"^([\w-]+)<<(.+)\n((?:.*\n)*?)\2\n", text, re.MULTILINE):
            self.context[f"steps.{step.get('id')}.outputs.{name}"] = value.rstrip("\n")

    def outputs(self):
        """The outputs of the action."""
        return {name: self.substitute(spec["value"]) for name, spec in self.definition["outputs"].items()}

    def substitute(self, text, context=None):
        return EXPRESSION.sub(lambda found: str(self.evaluate(found[1], context)), text)

    def evaluate(self, expression, context=None):
        """The value of an expression. A name without a value is an empty string, as on a runner."""
        context = self.context if context is None else context
        python_words = {"&&": " and ", "||": " or ", "!": " not ", "always()": "True", "success()": str(not getattr(self, "failed", False))}

        def to_python(found):
            token = found[0]
            if token.startswith("'") or token in ("(", ")", "==", "!="):
                return token
            return python_words.get(token) or repr(str(context.get(token, "")))

        return eval(TOKEN.sub(to_python, expression.strip()), {"__builtins__": {}})
