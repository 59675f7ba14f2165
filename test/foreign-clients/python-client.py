"""The vendor's own Python client (comfydeploy 0.7.0), unchanged: queue, get until the end, cancel, a refusal."""

import os
import time

from comfydeploy import ComfyDeploy
from comfydeploy.models.errors import HTTPValidationError, SDKError

ENDS = {"success", "failed", "timeout", "cancelled"}
quick, slow = os.environ["QUICK"], os.environ["SLOW"]
client = ComfyDeploy(bearer=os.environ["KEY"], server_url=os.environ["BASE"])


def queue(deployment_id, **fields):
    order = {"deployment_id": deployment_id, **fields}
    return client.run.deployment.queue(request=order).create_run_response.run_id


def ended(run_id):
    deadline = time.monotonic() + 10
    while True:
        run = client.run.get(run_id=run_id).workflow_run_model
        if run.status in ENDS:
            return run
        assert time.monotonic() < deadline, run.status
        time.sleep(0.02)


run = ended(queue(quick, inputs={"prompt": "a cat", "seed": 7}, gpu="H100"))
assert (run.status, run.gpu, run.progress) == ("success", "H100", 1), run
assert run.outputs[0].data["images"][0].url.endswith(".png"), run.outputs
print("queue and get until the end: well")

run_id = queue(slow)
print("cancel answers:", client.run.cancel(run_id=run_id).any)
assert ended(run_id).status == "cancelled"
print("cancel: well")

try:
    queue("portraits")
    raise AssertionError("it was taken")
except HTTPValidationError as refusal:
    assert refusal.data.detail[0].loc == ["body", "deployment_id"], refusal.data
    print("a refusal, problem by problem: well")

try:
    client.run.get(run_id="3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f")
    raise AssertionError("it was found")
except SDKError as error:
    assert error.status_code == 404, error
    print("an unknown run: well")
