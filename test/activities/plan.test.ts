import { MockActivityEnvironment, defaultActivityInfo } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { plan } from '../../activities/plan.ts';
import type { Order } from '../../src/batch/order.ts';
import { problem } from '../../src/errors.ts';
import { STARTED_FILE } from '../../src/store/batch-file.ts';
import { handsOf, openOf, PLACE, type Given } from './hands.ts';

async function planned(
  given: Given,
  files = new Map<string, string>(),
  broken?: Error,
): Promise<{ order: Order; files: Map<string, string> }> {
  const store = {
    location: '/nowhere',
    read: async (name: string) => files.get(name),
    write: async (name: string, text: string | Uint8Array) => void files.set(name, String(text)),
  };
  const open = openOf({ ...given, store });
  const sheet = { ...open, file: { ...open.file, sheet: { rows: 3 } } } as typeof open;
  const hands = handsOf({ webhooks: { secret: 's', receiver: () => 'http://r' }, ...given });
  const environment = new MockActivityEnvironment();
  const order: Order = await environment.run(() =>
    plan({ ...hands, open: () => (broken ? Promise.reject(broken) : Promise.resolve(sheet)) }, PLACE),
  );
  return { order, files };
}

const startedBy = (workflow: object) => new Map([[STARTED_FILE, JSON.stringify({ at: 'then', workflow })]]);
const OWN = defaultActivityInfo.workflowExecution ?? {};

describe('planning a batch', () => {
  it('marks the folder before anything can be sent, and never marks it anew', async () => {
    const { files } = await planned({});
    expect(JSON.parse(files.get(STARTED_FILE) ?? '')).toMatchObject({ workflow: OWN });
    const kept = await planned({}, startedBy(OWN));
    expect(kept.files.get(STARTED_FILE)).toContain('then');
  });

  it.each([
    ['another execution of the workflow', { ...OWN, runId: 'another' }],
    ['another workflow', { ...OWN, workflowId: 'another' }],
  ])('refuses for good a folder that %s began with', async (_what, workflow) => {
    await expect(planned({}, startedBy(workflow))).rejects.toMatchObject({
      type: 'E515',
      nonRetryable: true,
      message: expect.stringMatching(/^E515: .*--recover/s),
    });
  });

  it('refuses for good a folder that its worker does not use, and tries again what may come right', async () => {
    const open = (error: Error) => planned({}, new Map(), error);
    await expect(open(problem('E411', { folder: '/x/b', out: '/y' }))).rejects.toMatchObject({
      type: 'E411',
      nonRetryable: true,
    });
    await expect(open(problem('E504', { what: 'no batch' }))).rejects.toMatchObject({ code: 'E504' });
  });

  it('finds out by asking whether the service has lists, and counts on webhooks only with a receiver', async () => {
    const listed = await planned({ workflowId: 'w', service: { listRuns: async () => [] } });
    expect(listed.order).toMatchObject({ rows: 3, lists: true, webhooks: true });
    const bare = await planned({
      workflowId: 'w',
      service: { listRuns: async () => undefined },
      webhooks: { secret: 's', receiver: () => undefined },
    });
    expect(bare.order).toMatchObject({ lists: false, webhooks: false });
  });
});
