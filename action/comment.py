"""Writes the report as one comment on the pull request. A later run updates that comment.

If something cannot be written, it prints a warning with a remedy. It never fails the job.
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
# Pages of comments that are searched for the earlier comment.
MAX_PAGES = 30
# The most characters that the API takes.
MAX_CHARACTERS = 65_536
# `tare report --ci comment` writes this where a picture may be inserted.
PICTURE_PLACE = "<!-- picture -->"


class RequestFailed(Exception):
    """A request that failed: the API answered with an error, or did not answer (status None)."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}" if status else message)
        self.status = status


class Repository:
    """The API of one repository."""

    def __init__(self, api, name, token):
        self.base = f"{api.rstrip('/')}/repos/{name}"
        self.token = token

    def request(self, method, path, body=None):
        """Sends one request; returns the answer, parsed from JSON."""
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
            raise RequestFailed(error.code, read_error_message(error)) from None
        except (OSError, ValueError) as error:
            raise RequestFailed(None, str(getattr(error, "reason", error))) from None

    def comments(self, number):
        """The comments on a pull request, oldest first."""
        for page in range(1, MAX_PAGES + 1):
            page_comments = self.request("GET", f"/issues/{number}/comments?per_page={COMMENTS_PER_PAGE}&page={page}")
            yield from page_comments
            if len(page_comments) < COMMENTS_PER_PAGE:
                return

    def write_comment(self, number, text):
        """Updates the comment that has the same first line, or writes a new one. Returns its address."""
        # A report fits. The end of a build's log may have lines of any length.
        if len(text) > MAX_CHARACTERS:
            text = text[: MAX_CHARACTERS - 2] + "\n…"
        first_line = text.splitlines()[0]
        for comment in self.comments(number):
            if (comment.get("body") or "").split("\n")[0].strip() == first_line:
                try:
                    return self.request("PATCH", f"/issues/comments/{comment['id']}", {"body": text})["html_url"]
                except RequestFailed as failure:
                    # The comment belongs to somebody else, who quoted this line.
                    if failure.status not in (403, 404):
                        raise
        return self.request("POST", f"/issues/{number}/comments", {"body": text})["html_url"]

    def upload_picture(self, branch, path, picture):
        """Adds a file to a branch, and creates the branch if necessary. Returns the address of the file."""
        self.create_branch_if_missing(branch)
        content = base64.b64encode(picture).decode()
        body = {"message": f"Keep {path}", "content": content, "branch": branch}
        stored = self.request("PUT", f"/contents/{urllib.parse.quote(path)}", body)
        return stored["content"]["html_url"] + "?raw=true"

    def create_branch_if_missing(self, branch):
        try:
            self.request("GET", f"/git/ref/heads/{urllib.parse.quote(branch)}")
            return
        except RequestFailed as failure:
            if failure.status != 404:
                raise
        readme = {"path": "README.md", "mode": "100644", "type": "blob", "content": "The pictures of tare's comments.\n"}
        tree = self.request("POST", "/git/trees", {"tree": [readme]})
        commit = self.request("POST", "/git/commits", {"message": "Keep pictures", "tree": tree["sha"], "parents": []})
        self.request("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit["sha"]})


def read_error_message(error):
    """The error message in the answer of the API."""
    try:
        return json.load(error)["message"]
    except (OSError, ValueError, KeyError, TypeError):
        return error.reason


def warn(text):
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::warning title=tare::{text}")


def suggest_remedy(failure, permission):
    """What the user can do about a failed request."""
    if failure.status in (401, 403, 404):
        return (
            f'Grant the workflow "permissions: {permission}: write". A pull request from a fork gets a token that may '
            "only read: the summary of the job has the same report."
        )
    return "The summary of the job has the same report."


def add_picture(repository, text, folder, number):
    """The text with its picture, if a branch for pictures is set and the picture can be stored there."""
    branch = os.environ.get("TARE_PICTURE_BRANCH", "")
    picture = folder / "picture.svg"
    if not branch or not picture.exists():
        return text
    run = os.environ.get("GITHUB_RUN_ID", "0")
    attempt = os.environ.get("GITHUB_RUN_ATTEMPT", "1")
    job = "".join(c for c in os.environ.get("GITHUB_JOB", "job") if c.isalnum() or c in "-_")
    try:
        path = f"pull-request-{number}/{run}-{attempt}-{job}-{folder.name}.svg"
        address = repository.upload_picture(branch, path, picture.read_bytes())
    except RequestFailed as failure:
        warn(f"The picture could not be kept on the branch {branch} ({failure}). {suggest_remedy(failure, 'contents')}")
        return text
    return text.replace(PICTURE_PLACE, f"![Changes with their intervals]({address})", 1)


def main():
    folder = pathlib.Path(os.environ["TARE_REPORT"])
    number = int(os.environ["TARE_PULL_REQUEST"])
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    repository = Repository(api, os.environ["GITHUB_REPOSITORY"], os.environ.get("TARE_TOKEN", ""))
    text = add_picture(repository, (folder / "comment.md").read_text(), folder, number)
    try:
        print(f"the comment is at {repository.write_comment(number, text)}")
    except RequestFailed as failure:
        warn(f"The comment could not be written ({failure}). {suggest_remedy(failure, 'pull-requests')}")


if __name__ == "__main__":
    sys.exit(main())
