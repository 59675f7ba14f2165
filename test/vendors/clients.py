# Each vendor's own Python client against a stand-in: prints what it has seen as JSON. Arguments: vendor, address, key, scene, and
# for Replicate the body of a webhook with its headers as JSON.
import json
import os
import sys
import time

vendor, url, key, scene = sys.argv[1:5]
PROMPT = {"prompt": "an owl"}


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def router():
    os.environ["COMFY_BASE_URL"] = os.environ["COMFY_ROUTER_BASE_URL"] = url
    from comfy_sdk import Comfy

    models = Comfy(api_key=key).models
    model = "bfl/painter"
    if scene == "lost":
        first = raised(lambda: models.submit(model, PROMPT, idempotency_key="lost-1"))
        return [first, models.submit(model, PROMPT, idempotency_key="lost-1").request_id]
    if scene == "failed":
        return [raised(lambda: models.run(model, PROMPT)), raised(models.submit(model, PROMPT).get)]
    if scene == "slow":
        handle = models.submit(model, PROMPT)
        before = handle.status().status
        handle.cancel()
        return [before, handle.status().error_type, raised(handle.get), raised(handle.cancel)]
    once = models.run_detailed(model, PROMPT, idempotency_key="run-1")
    again = models.run_detailed(model, PROMPT, idempotency_key="run-1")
    schema = models.schema(model)
    return {
        "run": [once.output["status"], once.replayed, once.credits_used],
        "again": [again.output == once.output, again.replayed, again.credits_used],
        "queued": models.submit(model, PROMPT).get()["status"],
        "wrong": raised(lambda: models.run(model, {"steps": 99})),
        "unknown": raised(lambda: models.run("bfl/nothing", PROMPT)),
        "other inputs": raised(lambda: models.run(model, {"prompt": "a fox"}, idempotency_key="run-1")),
        "models": [entry.id for entry in models.list()],
        "schema": [schema.document["openapi"], models.schema(model, etag=schema.etag).unchanged],
    }


def fal():
    import fal_client.client as fal_module

    fal_module.QUEUE_URL_FORMAT = url + "/"
    client = fal_module.SyncClient(key=key)
    app = "fal-ai/painter"
    if scene == "failed":
        return raised(client.submit(app, arguments=PROMPT).get)
    if scene == "slow":
        handle = client.submit(app, arguments=PROMPT)
        before = type(handle.status()).__name__
        handle.cancel()
        return [before, type(handle.status()).__name__, raised(handle.get), raised(handle.cancel)]
    handle = client.submit(app + "/fast", arguments=PROMPT)
    output = handle.get(interval=0.01)
    status = handle.status()
    return {"output": len(output["images"]), "status": type(status).__name__, "metrics": list(status.metrics)}


def replicate():
    import replicate as module

    client = module.Client(api_token=key, base_url=url)
    if scene == "failed":
        return raised(lambda: client.run("someone/painter", input=PROMPT))
    create = lambda: client.models.predictions.create(("someone", "painter"), input=PROMPT)
    if scene == "slow":
        prediction = create()
        prediction.cancel()
        prediction.reload()
        return prediction.status
    prediction = create()
    prediction.wait()
    page = client.predictions.list()
    secret = client.webhooks.default.secret()
    body, headers = sys.argv[5:7]
    validate = lambda text: raised(lambda: module.webhook.Webhooks.validate(headers=json.loads(headers), body=text, secret=secret))
    return {
        "run": [prediction.status, len(prediction.output), sorted(prediction.metrics)],
        "list": [[entry.id for entry in page.results] == [prediction.id], page.next],
        "schema": client.models.get("someone/painter").latest_version.openapi_schema["components"]["schemas"]["Input"]["required"],
        "webhook": [validate(body), validate(body + " ")],
    }


def runpod():
    import runpod as module

    module.api_key, module.endpoint_url_base = key, url + "/v2"
    endpoint = module.Endpoint("endpoint1")
    if scene == "failed":
        job = endpoint.run({"input": PROMPT})
        while job.status() in ("IN_QUEUE", "IN_PROGRESS"):
            time.sleep(0.01)
        return job.status()
    if scene == "slow":
        job = endpoint.run({"input": PROMPT})
        return [endpoint.health()["jobs"]["inProgress"], job.cancel()["status"], job.status()]
    return [list(endpoint.run({"input": PROMPT}).output(timeout=30)), list(endpoint.run_sync({"input": PROMPT}, timeout=30))]


print(json.dumps({"router": router, "fal": fal, "replicate": replicate, "runpod": runpod}[vendor]()))
