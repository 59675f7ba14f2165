# What the vendor's own client sees of a Comfy API. Arguments: its address, and the kind of surface that it is. Prints a list of facts.

import json
import os
import sys
import time

base, mode = sys.argv[1:3]
os.environ["COMFY_BASE_URL"] = base

from comfy_sdk import Comfy  # noqa: E402
from comfy_sdk.exceptions import ComfyError  # noqa: E402

client = Comfy(api_key="comfyui-test")
facts = {}


def graph(text, seed=1, seconds=0, draw="Draw"):
    # An interrupt takes effect between two steps.
    steps = max(1, 20 * seconds)
    return client.workflows.from_json(
        {
            "3": {"class_type": draw, "inputs": {"text": text, "seed": seed, "style": "plain"}},
            "5": {"class_type": "Sleep", "inputs": {"image": ["3", 0], "seconds": seconds, "steps": steps}},
            "9": {"class_type": "SaveImage", "inputs": {"images": ["5", 0], "filename_prefix": text}},
        }
    )


def code_of(call):
    try:
        call()
    except ComfyError as error:
        return error.code
    return None


def ended(job):
    # A proxy asks its ComfyUI two questions: a job that ends between them is shown as expired once.
    if job.status == "expired":
        job = client.jobs.get(job.id)
    until = time.monotonic() + 20
    while job.status not in ("succeeded", "failed", "canceled", "expired"):
        if time.monotonic() > until:
            raise TimeoutError(job.status)
        time.sleep(0.05)
        job = client.jobs.get(job.id)
        if job.status == "expired":
            job = client.jobs.get(job.id)
    return job


# A job from its submission to its file.
job = ended(client.submit(graph("owl", seed=2**53 + 1)))
[output] = job.get_outputs("9")
facts["run"] = [job.status, output.to_bytes()[1:4].decode(), job.metadata]
facts["workflow"] = job.get_workflow().format
facts["seed"] = job.get_workflow().graph["3"]["inputs"]["seed"]

# An input file.
picture = client.assets.from_bytes(output.to_bytes(), filename="photo.png")
copier = client.workflows.from_json(
    {
        "1": {"class_type": "LoadImage", "inputs": {"image": "example.png"}},
        "9": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "copy"}},
    }
)
copier.set_input("1", "image", picture)
copy = ended(client.submit(copier))
facts["copy"] = [copy.status, len(copy.outputs)]

# What is refused, and what a refusal says.
facts["unknown node"] = code_of(lambda: client.submit(graph("owl", draw="Nothing")))
facts["unknown job"] = code_of(lambda: client.jobs.get("7f3d2c1b-9a8e-4d6f-b012-3c4d5e6f7a8b"))
client.submit(graph("once"), idempotency_key="the-key")
facts["key again"] = code_of(lambda: client.submit(graph("twice"), idempotency_key="the-key"))

# Cancelled while it runs.
running = client.submit(graph("slow", seconds=60))
while running.status == "queued":
    running = client.jobs.get(running.id)
running.cancel()
facts["cancelled"] = ended(running).status

# Labels and lists.
facts["labels"] = code_of(lambda: client.submit(graph("labelled"), metadata={"run": "one"}))
if mode == "deployment":
    facts["label kept"] = client.submit(graph("labelled"), metadata={"run": "two", "try": "1"}).metadata
    facts["long label"] = code_of(lambda: client.submit(graph("x"), metadata={"run": "x" * 257}))
    facts["four filters"] = code_of(lambda: list(client.list_jobs(metadata=dict.fromkeys("abcd", "x"))))
    for _ in range(5):
        client.submit(graph("page"), metadata={"run": "pages"})
    found = list(client.list_jobs(metadata={"run": "pages"}, limit=2))
    facts["pages"] = [len(found), len({one.id for one in found})]
    facts["item"] = [found[0].create_time is not None, found[0].deployment_id is not None]
facts["list"] = code_of(lambda: next(iter(client.list_jobs(limit=1)), None))
if mode != "cloud":
    facts["labels of items"] = next(iter(client.list_jobs())).metadata if mode == "proxy" else None

print(json.dumps(facts))
