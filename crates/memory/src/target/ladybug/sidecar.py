"""The graph of memory in Ladybug: one request as JSON on standard input, one answer as JSON on standard output.

Nodes are of one table and edges of another, with their kinds as properties: `MATCH (m:Node {kind: 'memory'})
-[e:Edge {kind: 'decided-in'}]->(a:Node) RETURN m.content, a.label`. A node without a digest is the end of an edge
that has not come itself.
"""

import json
import os
import sys

import ladybug

SCHEMA = [
    """CREATE NODE TABLE IF NOT EXISTS Node (key STRING PRIMARY KEY, kind STRING, name STRING, label STRING, digest STRING,
       memory STRING, content STRING, rationale STRING, tags STRING, artifact STRING, agent STRING, session STRING,
       created_at INT64, valid_to INT64, superseded BOOL, words STRING)""",
    "CREATE REL TABLE IF NOT EXISTS Edge (FROM Node TO Node, kind STRING)",
]
PROPERTIES = ["content", "rationale", "tags", "artifact", "agent", "session", "created_at", "valid_to"]


class Graph:
    def __init__(self, path, is_read_only):
        self.connection = ladybug.Connection(ladybug.Database(path, read_only=is_read_only))
        for statement in [] if is_read_only else SCHEMA:
            self.connection.execute(statement)

    def rows(self, statement, parameters=None):
        return self.connection.execute(statement, parameters or {}).get_all()

    def held(self, _request):
        return dict(self.rows("MATCH (n:Node) WHERE n.digest IS NOT NULL RETURN n.key, n.digest"))

    def put(self, request):
        self.rows("BEGIN TRANSACTION")
        for unit in request["units"]:
            self.put_node(unit)
            self.put_edges(unit)
        self.rows("COMMIT")

    def put_node(self, unit):
        memory = unit["memory"] or {}
        values = {name: memory.get(name) for name in PROPERTIES}
        texts = [memory.get(name) or "" for name in ("content", "rationale", "tags")]
        values.update({name: unit[name] for name in ("kind", "name", "label", "digest", "superseded")})
        values.update(memory=memory.get("kind"), words=" ".join(texts).lower())
        places = ", ".join(f"n.{name} = {typed(name)}" for name in values)
        self.rows(f"MERGE (n:Node {{key: $key}}) SET {places}", {"key": unit["key"], **values})

    def put_edges(self, unit):
        self.rows("MATCH (n:Node {key: $key})-[e:Edge]->() DELETE e", {"key": unit["key"]})
        for edge in unit["edges"]:
            other = {"to": edge["to"], "kind": edge["kind"], "name": edge["name"]}
            self.rows("MERGE (n:Node {key: $to}) ON CREATE SET n.kind = $kind, n.name = $name, n.label = $name", other)
            ends = {"key": unit["key"], "to": edge["to"], "kind": edge["edge"]}
            self.rows("MATCH (n:Node {key: $key}), (m:Node {key: $to}) CREATE (n)-[:Edge {kind: $kind}]->(m)", ends)

    def forget(self, request):
        """Nodes that edges lead to stay without all that they said, as the ends of these."""
        gone = ", ".join(f"n.{name} = NULL" for name in (*PROPERTIES, "digest", "memory", "words"))
        for key in request["keys"]:
            self.rows("MATCH (n:Node {key: $key})-[e:Edge]->() DELETE e", {"key": key})
            if self.rows("MATCH (n:Node {key: $key})<-[e:Edge]-() RETURN count(e)", {"key": key})[0][0]:
                self.rows(f"MATCH (n:Node {{key: $key}}) SET {gone}, n.label = n.name", {"key": key})
            else:
                self.rows("MATCH (n:Node {key: $key}) DELETE n", {"key": key})

    def edges(self, request):
        return self.rows("MATCH (n:Node {key: $key})-[e:Edge]->(m:Node) RETURN e.kind, m.kind, m.name", {"key": request["key"]})

    def recall(self, request):
        """The memories that hold most of the words; of as many the more recent."""
        words = request["words"][:32]
        if not words:
            return []
        hits = " + ".join(f"CASE WHEN n.words CONTAINS $w{place} THEN 1 ELSE 0 END" for place in range(len(words)))
        found = self.rows(
            f"""MATCH (n:Node) WHERE n.kind = 'memory' AND n.digest IS NOT NULL AND n.superseded = false AND (n.valid_to IS NULL OR n.valid_to > $now)
                WITH n.key AS key, n.created_at AS at, {hits} AS hits WHERE hits > 0
                RETURN key ORDER BY hits DESC, at DESC, key LIMIT {int(request['limit'])}""",
            {"now": request["now"], **{f"w{place}": word for place, word in enumerate(words)}},
        )
        return [key for key, in found]


def typed(name):
    """A parameter that may be null has no type of its own."""
    kinds = {"created_at": "INT64", "valid_to": "INT64", "superseded": "BOOL"}
    return f"CAST(${name} AS {kinds.get(name, 'STRING')})"


def main():
    request = json.load(sys.stdin)
    path, is_read_only = request["database"], request["do"] not in ("put", "forget")
    # A database that is only read is not made.
    is_new = is_read_only and not os.path.exists(path)
    answer = {} if is_new else getattr(Graph(path, is_read_only), request["do"])(request)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
