#!/usr/bin/env python3
"""How well memory is recalled: 200 questions over 2,000 generated records and those of records.tsv, by stepmark, by plain
FTS5, and by kuzu-memory where it is installed. Usage: quality.py STEPMARK [NUMBER OF RECORDS]

Prints recall@5 and the mean reciprocal rank of each. The records and questions are the same in every run.
"""

import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["checkout", "sign-in", "search", "billing", "export", "import", "upload", "mailer", "scheduler", "cache", "router", "gateway", "ledger",
         "report", "webhook", "profile", "invoice", "tax", "refund", "coupon", "catalogue", "stock", "shipping", "tracking", "audit"]
TOOLS = ["Redis", "Postgres", "SQLite", "Kafka", "RabbitMQ", "S3", "GraphQL", "gRPC", "REST", "protobuf", "JSON", "YAML", "Terraform", "Ansible",
         "Docker", "Nomad", "Vite", "React", "Svelte", "Tailwind"]
REASONS = ["latency", "cost", "licence", "memory use", "team experience", "audit rules", "offline use", "backups", "vendor lock-in", "cold starts"]
# A record of a kind, and a question for it in other words.
TEMPLATES = [
    ("decision", "The {part} uses {tool} instead of {other}, chosen for {reason}", "Which technology did we pick for the {part} because of {reason}?"),
    ("error", "{tool} timed out in the {part} when {other} was restarted; retry after {number} seconds", "Why did the {part} hang after {other} restarts?"),
    ("pattern", "Handlers of the {part} wrap calls to {tool} in a transaction of {number} ms", "How are {tool} calls wrapped in {part} handlers?"),
    ("preference", "Reviewers want changes of the {part} with {tool} in pull requests below {number} lines", "How large may a pull request for the {part} and {tool} be?"),
]


def generated(count, chance):
    """Records with a question each, no two alike."""
    seen = set()
    while len(seen) < count:
        kind, text, question = TEMPLATES[len(seen) % len(TEMPLATES)]
        tool, other = chance.sample(TOOLS, 2)
        words = {"part": chance.choice(PARTS), "tool": tool, "other": other, "reason": chance.choice(REASONS), "number": chance.randint(2, 990)}
        record = text.format(**words)
        if record not in seen:
            seen.add(record)
            yield kind, record, question.format(**words)


def rank(found, wanted):
    return found.index(wanted) + 1 if wanted in found else 0


def figures(name, ranks, seconds):
    at_five = sum(0 < place <= 5 for place in ranks) / len(ranks)
    reciprocal = sum(1 / place for place in ranks if place) / len(ranks)
    print(f"{name:24} recall@5 {at_five:.2f}  MRR {reciprocal:.2f}  {seconds / len(ranks) * 1000:.0f} ms a question", flush=True)


def measure(name, ask, questions):
    began = time.monotonic()
    ranks = [rank(ask(question), record) for record, question in questions]
    figures(name, ranks, time.monotonic() - began)
    return sum(1 / place for place in ranks if place)


def by_stepmark(stepmark, folder, records):
    run = lambda *words: subprocess.run([stepmark, *words], cwd=folder, check=True, capture_output=True, text=True).stdout
    for kind, text in records:
        run("memory", "remember", text, "--kind", kind)
    ask = lambda question: [own["content"] for own in json.loads(run("memory", "recall", question, "--limit", "10", "--json"))["memories"]]
    return ask


def by_plain_fts5(records):
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(content)")
    database.executemany("INSERT INTO words VALUES (?)", [(text,) for _, text in records])

    def ask(question):
        wanted = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        return [row[0] for row in database.execute("SELECT content FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10", [wanted])]

    return ask


def by_kuzu_memory(folder, records):
    import logging

    logging.disable(logging.CRITICAL)
    from kuzu_memory import KuzuMemory

    memory = KuzuMemory(db_path=pathlib.Path(folder) / "memories.db", enable_git_sync=False, auto_sync=False)
    for _, text in records:
        memory.remember(text)
    return lambda question: [own.content for own in memory.attach_memories(question, max_memories=10).memories]


def main():
    stepmark, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    chance = random.Random(22)
    made = list(generated(count, chance))
    by_hand = [line.rstrip("\n").split("\t") for line in (HERE / "records.tsv").open(encoding="utf-8")]
    everything = made + [tuple(row) for row in by_hand]
    records = [(kind, text) for kind, text, _ in everything]
    pairs = lambda rows: [(text, question) for _, text, question in rows]
    hand = pairs(chance.sample(by_hand, 100))
    asked = hand + pairs(chance.sample(made, 100))
    print(f"{len(records)} records, of them {len(by_hand)} by hand; {len(asked)} questions, of them {len(hand)} for those by hand")
    with tempfile.TemporaryDirectory() as folder:
        own, plain = by_stepmark(stepmark, folder, records), by_plain_fts5(records)
        ours, theirs = measure("stepmark (a process each)", own, asked), measure("plain FTS5", plain, asked)
        measure("stepmark, by hand", own, hand)
        measure("plain FTS5, by hand", plain, hand)
        assert ours > theirs, "plain FTS5 recalls better"
        try:
            ask = by_kuzu_memory(folder, records)
        except ImportError:
            print("kuzu-memory is not installed: `pip install kuzu-memory` and run this with that Python")
            return
        measure("kuzu-memory", ask, asked)
        measure("kuzu-memory, by hand", ask, hand)


main()
sys.stdout.flush()
# Threads of kuzu-memory may never end.
os._exit(0)
