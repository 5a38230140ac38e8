"""The emulator as a process, and what it keeps."""

import http.client
import json
import pathlib
import socket
import subprocess
import sys
import time

from proxy import TOKEN

PACKAGES = pathlib.Path(__file__).resolve().parent / "node_modules"


class Emulator:
    def __init__(self, folder):
        self.port = free_port()
        seed = folder / "seed.yaml"
        seed.write_text(f"tokens:\n  {TOKEN}: {{login: owner, scopes: [repo, user]}}\ngithub:\n  users:\n    - login: owner\n")
        self.log = open(folder / "emulator.log", "w+")
        words = [PACKAGES / "node/bin/node", PACKAGES / "emulate/dist/index.js", "start", "--service", "github", "--port", str(self.port), "--seed", seed]
        self.process = subprocess.Popen([str(word) for word in words], stdout=self.log, stderr=self.log, cwd=folder)
        self.repositories = 0
        deadline = time.monotonic() + 60
        while not self.is_up():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.log.seek(0)
                sys.exit(f"the emulator does not start: {self.log.read()}")
            time.sleep(0.1)

    def is_up(self):
        try:
            return self.ask("GET", "/user")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "user-agent": "test"}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.status, json.loads(content or "null")

    def repository(self):
        self.repositories += 1
        name = f"r{self.repositories}"
        status, made = self.ask("POST", "/user/repos", {"name": name})
        assert status == 201, made
        return made["full_name"]

    def issues(self, repository):
        """All issues by number, open and closed ones."""
        found, page = {}, 1
        while True:
            status, issues = self.ask("GET", f"/repos/{repository}/issues?state=all&per_page=100&page={page}")
            assert status == 200, issues
            found.update((issue["number"], issue) for issue in issues)
            page += 1
            if len(issues) < 100:
                return dict(sorted(found.items()))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
