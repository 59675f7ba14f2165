// The vendor's own client, comfy-sdk from PyPI, against our stand-in: it believes what its contract says, and so checks the stand-in.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pythonWith } from '../stage/python.ts';
import { until } from '../stage/stage.ts';
import { ApiStandIn } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { openStandIn } from './own-service.ts';

const { missing, read } = pythonWith('comfy-sdk', { comfy_sdk: 'comfy-sdk==0.5.0' });
const SCRIPT = readFileSync(new URL('comfy-sdk.py', import.meta.url), 'utf8');

const EVERYWHERE = {
  run: ['succeeded', 'PNG', {}],
  workflow: 'api',
  seed: 2 ** 53 + 1,
  copy: ['succeeded', 1],
  'unknown node': 'invalid_workflow',
  'unknown job': 'not_found',
  'key again': 'idempotency_key_reuse',
  cancelled: 'canceled',
};

const FACTS: Readonly<Record<'deployment' | 'cloud' | 'proxy', object>> = {
  deployment: {
    labels: null,
    'label kept': { run: 'two', try: '1' },
    'long label': 'metadata_invalid',
    'four filters': 'invalid_metadata_filter',
    pages: [5, 5],
    item: [true, true],
    list: null,
    'labels of items': null,
  },
  cloud: { labels: 'metadata_not_supported', list: 'not_implemented' },
  proxy: { labels: 'invalid_request', list: null, 'labels of items': {} },
};

describe.skipIf(missing !== undefined)(`comfy-sdk (missing: ${missing ?? 'nothing'})`, () => {
  it.each(Object.entries(FACTS))('finds what the contract says of a %s', async (mode, facts) => {
    const gpus = [await openStandIn()];
    const api = await ApiStandIn.of(mode as Mode, gpus);
    api.key = 'comfyui-test';
    expect(await read(SCRIPT, api.url, mode)).toEqual({ ...EVERYWHERE, ...facts });
  });

  it('waits and sends again where the contract says so', async () => {
    const api = await ApiStandIn.of('deployment', [await openStandIn()]);
    const { rules } = api.hosted;
    rules.state = 'not-ready';
    const submitted = read(SUBMIT, api.url);
    await until(() => api.asked.length > 0, 'it is asked', 30_000);
    rules.state = 'ready';
    await submitted;
    expect(api.asked.length).toBeGreaterThan(1);
    expect(api.executions).toHaveLength(1);
    rules.state = 'stopped';
    await expect(read(SUBMIT, api.url)).rejects.toThrow('deployment is stopped');
    rules.state = 'ready';
    rules.credits = 0;
    await expect(read(SUBMIT, api.url)).rejects.toThrow('no credits');
  });
});

const SUBMIT = `
import os, sys
os.environ["COMFY_BASE_URL"] = sys.argv[1]
from comfy_sdk import Comfy
graph = {
    "3": {"class_type": "Draw", "inputs": {"text": "owl", "seed": 1, "style": "plain"}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "x"}},
}
client = Comfy(api_key="comfyui-test")
print('"' + client.run(client.workflows.from_json(graph)).id + '"')
`;
