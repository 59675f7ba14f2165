// Batches that were recorded once must replay with the code as it is now (R19): a worker that is updated while a batch
// runs does exactly this.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NEWEST_RULES } from '../../src/batch/rules.ts';
import { replay } from './replay.ts';

const recordings = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json.gz'));
const historyOf = (name: string): string => gunzipSync(readFileSync(join(import.meta.dirname, name))).toString();

describe('recorded histories', () => {
  it('are there for every number of the rules', () => {
    for (let rules = 1; rules <= NEWEST_RULES; rules += 1)
      expect(recordings.filter((name) => name.startsWith(`rules-${rules}/`)).length).toBeGreaterThan(3);
  });

  it.each(recordings)('%s replays', async (name) => {
    await expect(replay(historyOf(name))).resolves.toBeUndefined();
  });

  // A query or an update of ours would bring one; the SDK would take it for a part of the task before it.
  it.each(recordings)('%s has no workflow task without an event before it', (name) => {
    const { events } = JSON.parse(historyOf(name)) as { events: { eventId: string; eventType: string }[] };
    const types = events.map(({ eventType }) => eventType.replace('EVENT_TYPE_WORKFLOW_TASK_', ''));
    const bare = events.filter((_, at) => types[at] === 'SCHEDULED' && types[at - 1] === 'COMPLETED');
    expect(types.filter((type) => type === 'SCHEDULED').length).toBeGreaterThan(5);
    expect(bare.map(({ eventId }) => eventId)).toEqual([]);
  });

  it('do not replay where the commands differ', async () => {
    const [name = ''] = recordings;
    const other = historyOf(name).replace('"name":"collect"', '"name":"gather"').replace('"name": "collect"', '"name": "gather"');
    await expect(replay(other)).rejects.toThrow(/nondeterminism|determinis/i);
  });
});
