import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { plan } from '../../activities/plan.ts';
import type { Order } from '../../src/batch/order.ts';
import { STARTED_FILE } from '../../src/store/batch-file.ts';
import { handsOf, openOf, PLACE, type Given } from './hands.ts';

async function planned(
  given: Given,
  files = new Map<string, string>(),
): Promise<{ order: Order; files: Map<string, string> }> {
  const store = {
    exists: async (name: string) => files.has(name),
    write: async (name: string, text: string | Uint8Array) => void files.set(name, String(text)),
  };
  const open = openOf({ ...given, store });
  const sheet = { ...open, file: { ...open.file, sheet: { rows: 3 } } } as typeof open;
  const hands = handsOf({ webhooks: { secret: 's', receiver: () => 'http://r' }, ...given });
  const environment = new MockActivityEnvironment();
  const order: Order = await environment.run(() => plan({ ...hands, open: async () => sheet }, PLACE));
  return { order, files };
}

describe('planning a batch', () => {
  it('marks the folder before anything can be sent, and never marks it anew', async () => {
    const { files } = await planned({});
    expect(files.get(STARTED_FILE)).toContain('workflow');
    const kept = await planned({}, new Map([[STARTED_FILE, 'as it was']]));
    expect(kept.files.get(STARTED_FILE)).toBe('as it was');
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
