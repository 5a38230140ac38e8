"""Calls every tool of `stepmark mcp --tools coordination` with the protocol's Python client, and prints the names of those called.

Usage: every_tool.py STEPMARK_BINARY PROJECT MODE VERSION. The client holds each answer against the tool's output schema.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters

STEPMARK, PROJECT, MODE, VERSION = sys.argv[1:5]


async def main():
    server = StdioServerParameters(command=STEPMARK, args=["--root", PROJECT, "mcp", "--tools", "coordination"])
    async with Client(server, mode=MODE) as client:
        assert client.protocol_version == VERSION, client.protocol_version
        assert client.server_info.name == "stepmark", client.server_info
        assert "Worker" in client.instructions, client.instructions
        listed = (await client.list_tools()).tools

        async def call(name, **arguments):
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, (name, answer.content)
            assert answer.content[0].text, name
            print(name)
            return answer.structured_content

        await call("init_coordination", goal="Build a shed", master_plan="# Plan\n\nWalls, then a roof.\n")
        walls = (await call("create_task", description="Walls", priority=1, context_files=["plan.md"], hints="of wood"))["task_id"]
        roof, door = (await call("create_tasks_batch", tasks=[
            {"description": "Roof", "dependencies": [walls]},
            {"description": "Door", "priority": 9},
        ]))["task_ids"]
        await call("register_agent", agent_id="ada", role="worker")
        claimed = await call("claim_task", agent_id="ada")
        assert claimed["claimed"] and claimed["task"]["id"] == walls, claimed
        refused = await client.call_tool("start_task", {"agent_id": "eve", "task_id": walls})
        assert refused.is_error and "ada" in refused.content[0].text, refused
        assert (await call("start_task", agent_id="ada", task_id=walls))["status"] == "in_progress"
        await call("heartbeat", agent_id="ada")
        done = await call("complete_task", agent_id="ada", task_id=walls, output="Four walls", files_modified=["plan.md"])
        assert done["status"] == "done", done
        next_task = (await call("claim_task", agent_id="ada"))["task"]["id"]
        assert next_task == roof, next_task
        assert (await call("fail_task", agent_id="ada", task_id=roof, error="No nails"))["status"] == "failed"
        await call("add_discovery", agent_id="ada", content="The ground is wet", tags=["ground"])
        found = (await call("get_discoveries", tags=["ground"]))["discoveries"]
        assert [one["content"] for one in found] == ["The ground is wet"], found
        status = await call("get_status")
        assert (status["total_tasks"], status["tasks"]) == (3, {"available": 1, "done": 1, "failed": 1}), status
        tasks = (await call("get_all_tasks", status_filter="available"))["tasks"]
        assert [task["id"] for task in tasks] == [door], tasks
        results = (await call("get_results", task_ids=[walls]))["results"]
        assert results[0]["output"] == "Four walls" and results[0]["files_modified"] == ["plan.md"], results
        plan = await call("get_master_plan")
        assert plan["master_plan"] == "# Plan\n\nWalls, then a roof.\n", plan
        assert {tool.name for tool in listed} >= {"claim_task"} and len(listed) == 15, listed


asyncio.run(main())
