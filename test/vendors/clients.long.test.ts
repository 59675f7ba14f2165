// The vendors' own Python clients against our stand-ins; comfy-sdk is the only client of Comfy Router here.

import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pythonWith } from '../stage/python.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';
import type { VendorStandIn } from './vendor-stand-in.ts';

const { missing, read } = pythonWith('vendor-clients', {
  comfy_sdk: 'comfy-sdk==0.5.0',
  fal_client: 'fal_client==1.0.3',
  replicate: 'replicate==1.0.7',
  runpod: 'runpod==1.12.0',
});
const SCRIPT = readFileSync(new URL('clients.py', import.meta.url), 'utf8');
const SLOW_MS = 600_000;

async function opened<Vendor extends VendorStandIn>(open: () => Promise<Vendor>): Promise<Vendor> {
  const vendor = await open();
  onTestFinished(() => vendor.close());
  return vendor;
}

const play = (
  name: string,
  { url, key }: VendorStandIn,
  scene = 'runs',
  ...more: readonly string[]
): Promise<unknown> => read(SCRIPT, name, url, key, scene, ...more);

describe.skipIf(missing !== undefined)(`Python clients (missing: ${missing ?? 'nothing'})`, () => {
  it('comfy-sdk runs, replays, queues, and is refused by Comfy Router', async () => {
    const vendor = await opened(openRouter);
    expect(await play('router', vendor)).toEqual({
      run: ['Ready', false, '8.44'],
      again: [true, true, null],
      queued: 'Ready',
      wrong: 'InvalidInput',
      unknown: 'ModelNotFound',
      'other inputs': 'InvalidInput',
      models: ['bfl/painter'],
      schema: ['3.0.3', true],
    });
    expect(vendor.executions()).toHaveLength(2);
  });

  it('comfy-sdk reads failures, cancels, and finds a request whose answer was lost by its key', async () => {
    const vendor = await opened(openRouter);
    vendor.failNext(2, 'no GPU');
    expect(await play('router', vendor, 'failed')).toEqual(['ProviderError', 'ProviderError']);
    vendor.lose('closed', 1);
    expect(await play('router', vendor, 'lost')).toEqual(['RemoteProtocolError', vendor.runs[2]?.id]);
    expect(vendor.executions()).toHaveLength(3);
    vendor.setDuration(SLOW_MS);
    expect(await play('router', vendor, 'slow')).toEqual([
      'IN_PROGRESS',
      'cancelled',
      'Cancelled',
      'AlreadyCompleted',
    ]);
  });

  it('fal_client submits, reads failures and cancels', async () => {
    const vendor = await opened(openFal);
    expect(await play('fal', vendor)).toEqual({
      output: 1,
      status: 'Completed',
      metrics: ['inference_time'],
    });
    vendor.failNext(1, 'no GPU');
    expect(await play('fal', vendor, 'failed')).toBe('FalClientHTTPError');
    vendor.setDuration(SLOW_MS);
    expect(await play('fal', vendor, 'slow')).toEqual([
      'InProgress',
      'Completed',
      'FalClientHTTPError',
      'FalClientHTTPError',
    ]);
  });

  it('replicate runs, lists, cancels, and believes a webhook', async () => {
    const vendor = await opened(openReplicate);
    const { body, headers } = vendor.signed('{"id":"owl"}');
    expect(await play('replicate', vendor, 'runs', body, JSON.stringify(headers))).toEqual({
      run: ['succeeded', 1, ['predict_time', 'total_time']],
      list: [true, null],
      schema: ['prompt'],
      webhook: [null, 'InvalidSignatureError'],
    });
    vendor.failNext(1, 'no GPU');
    expect(await play('replicate', vendor, 'failed')).toBe('ModelError');
    vendor.setDuration(SLOW_MS);
    expect(await play('replicate', vendor, 'slow')).toBe('canceled');
  });

  it('runpod runs, reads failures and cancels', async () => {
    const vendor = await opened(openRunpod);
    expect(await play('runpod', vendor)).toEqual([['images'], ['images']]);
    vendor.failNext(1, 'no GPU');
    expect(await play('runpod', vendor, 'failed')).toBe('FAILED');
    vendor.setDuration(SLOW_MS);
    expect(await play('runpod', vendor, 'slow')).toEqual([1, 'CANCELLED', 'CANCELLED']);
  });
});
