"""Writes the report as one comment on the pull request. A later run updates that comment.

What cannot be written is a warning with its remedy, and never fails the job.
"""

import base64
import json
import os
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_S = 30
COMMENTS_PER_PAGE = 100
# More comments than this are not searched for the earlier one.
MOST_PAGES = 30
# In the form "comment": where a picture may stand.
PICTURE_PLACE = "<!-- picture -->"


class Refused(Exception):
    """An answer of the API that is not a success, or none."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}" if status else message)
        self.status = status


class Repository:
    """The API of one repository."""

    def __init__(self, api, name, token):
        self.base = f"{api.rstrip('/')}/repos/{name}"
        self.token = token

    def ask(self, method, path, body=None):
        """The answer to one request, as JSON."""
        headers = {
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, said_by(error)) from None
        except (OSError, ValueError) as error:
            raise Refused(None, str(getattr(error, "reason", error))) from None

    def comments(self, number):
        """The comments on a pull request, oldest first."""
        for page in range(1, MOST_PAGES + 1):
            some = self.ask("GET", f"/issues/{number}/comments?per_page={COMMENTS_PER_PAGE}&page={page}")
            yield from some
            if len(some) < COMMENTS_PER_PAGE:
                return

    def write_comment(self, number, text):
        """Updates the comment that begins with the same line, or writes a new one. Returns its address."""
        mark = text.splitlines()[0]
        for comment in self.comments(number):
            if (comment.get("body") or "").split("\n")[0].strip() == mark:
                try:
                    return self.ask("PATCH", f"/issues/comments/{comment['id']}", {"body": text})["html_url"]
                except Refused as refused:
                    # Somebody else quoted the mark: their comment is not ours to change.
                    if refused.status not in (403, 404):
                        raise
        return self.ask("POST", f"/issues/{number}/comments", {"body": text})["html_url"]

    def keep_picture(self, branch, path, picture):
        """Adds a file to a branch, which is made where there is none. Returns the address of the file."""
        self.make_branch(branch)
        content = base64.b64encode(picture).decode()
        body = {"message": f"Keep {path}", "content": content, "branch": branch}
        kept = self.ask("PUT", f"/contents/{urllib.parse.quote(path)}", body)
        return kept["content"]["html_url"] + "?raw=true"

    def make_branch(self, branch):
        try:
            self.ask("GET", f"/git/ref/heads/{urllib.parse.quote(branch)}")
            return
        except Refused as refused:
            if refused.status != 404:
                raise
        readme = {"path": "README.md", "mode": "100644", "type": "blob", "content": "The pictures of tare's comments.\n"}
        tree = self.ask("POST", "/git/trees", {"tree": [readme]})
        commit = self.ask("POST", "/git/commits", {"message": "Keep pictures", "tree": tree["sha"], "parents": []})
        self.ask("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit["sha"]})


def said_by(error):
    """What the API says about an error."""
    try:
        return json.load(error)["message"]
    except (OSError, ValueError, KeyError, TypeError):
        return error.reason


def warn(text):
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::warning title=tare::{text}")


def remedy(refused, permission):
    """What to do about a refusal."""
    if refused.status in (401, 403, 404):
        return (
            f'Grant the workflow "permissions: {permission}: write". A pull request from a fork gets a token that may '
            "only read: the summary of the job has the same report."
        )
    return "The summary of the job has the same report."


def with_picture(repository, text, folder, number):
    """The text with its picture, if a branch for pictures is set and takes it."""
    branch = os.environ.get("TARE_PICTURE_BRANCH", "")
    picture = folder / "picture.svg"
    if not branch or not picture.exists():
        return text
    run = os.environ.get("GITHUB_RUN_ID", "0")
    attempt = os.environ.get("GITHUB_RUN_ATTEMPT", "1")
    job = "".join(c for c in os.environ.get("GITHUB_JOB", "job") if c.isalnum() or c in "-_")
    try:
        path = f"pull-request-{number}/{run}-{attempt}-{job}-{folder.name}.svg"
        address = repository.keep_picture(branch, path, picture.read_bytes())
    except Refused as refused:
        warn(f"The picture could not be kept on the branch {branch} ({refused}). {remedy(refused, 'contents')}")
        return text
    return text.replace(PICTURE_PLACE, f"![Changes with their intervals]({address})", 1)


def main():
    folder = pathlib.Path(os.environ["TARE_REPORT"])
    number = int(os.environ["TARE_PULL_REQUEST"])
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    repository = Repository(api, os.environ["GITHUB_REPOSITORY"], os.environ.get("TARE_TOKEN", ""))
    text = with_picture(repository, (folder / "comment.md").read_text(), folder, number)
    try:
        print(f"the comment is at {repository.write_comment(number, text)}")
    except Refused as refused:
        warn(f"The comment could not be written ({refused}). {remedy(refused, 'pull-requests')}")


if __name__ == "__main__":
    sys.exit(main())
