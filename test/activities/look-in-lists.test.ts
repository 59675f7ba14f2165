import { describe, expect, it } from 'vitest';
import { lookInLists } from '../../activities/look-in-lists.ts';
import type { ListLook } from '../../src/batch/messages.ts';
import type { Run } from '../../src/run-service/contract/run.ts';
import { webhookUrl } from '../../src/webhook/token.ts';
import { handsOf, PLACE, runOf, SKEW_MS } from './hands.ts';

const NEW = Date.now();
const SINCE = NEW - 3_600_000;

/** A run that carries the token of an attempt. */
const runFor = (id: string, row: number, attempt = 1, batch = 'b', createdAtMs = NEW): Run => ({
  ...runOf(id, 'running'),
  webhook: webhookUrl({ batch, row, attempt }, 'a secret of long ago', 'http://elsewhere'),
  createdAtMs,
});
const strangers = (count: number, createdAtMs = NEW): Run[] =>
  Array.from({ length: count }, (_, n) => ({ ...runOf(`stranger-${n}`, 'success'), createdAtMs }));

type Listing = (page: { limit: number; offset: number }) => readonly Run[] | undefined;

async function look(list: Listing, workflowId = 'w'): Promise<ListLook> {
  const listRuns = async (_: string, page: { limit: number; offset: number }) => list(page);
  const attempts = [
    { row: 1, attempt: 1 },
    { row: 2, attempt: 3 },
  ];
  const hands = handsOf({ service: { listRuns, getRun: async () => undefined }, workflowId });
  return lookInLists(hands, { ...PLACE, attempts, since: SINCE, control: 'control' });
}

const pagesOf =
  (runs: readonly Run[]): Listing =>
  ({ limit, offset }) =>
    runs.slice(offset, offset + limit);

describe('a look in the run lists', () => {
  it('finds the runs of its attempts by their tokens, whatever host and secret those were made with', async () => {
    const found = [runFor('r1', 1), runFor('r2', 2, 3)];
    expect(await look(pagesOf(found))).toMatchObject({
      answer: 'complete',
      found: [
        { row: 1, attempt: 1, runId: 'r1' },
        { row: 2, attempt: 3, runId: 'r2' },
      ],
      control: false,
    });
  });

  it('takes no run of another batch, another attempt or another row', async () => {
    const others = [runFor('r1', 1, 1, 'c'), runFor('r2', 2, 2), runFor('r3', 3), ...strangers(1)];
    expect((await look(pagesOf(others))).found).toEqual([]);
  });

  it('reads on where the clock of the service is behind, so that all runs look older than the attempts', async () => {
    const behind = SINCE - 3_600_000;
    const runs = [...strangers(250, behind), runFor('r1', 1, 1, 'b', behind)];
    expect((await look(pagesOf(runs))).found).toMatchObject([{ runId: 'r1' }]);
  });

  it('reads on until the list is older than the oldest attempt, and finds the control on any page', async () => {
    const runs = [...strangers(450), { ...runOf('control', 'success'), createdAtMs: NEW }, runFor('r1', 1)];
    expect(await look(pagesOf(runs))).toMatchObject({
      answer: 'complete',
      found: [{ runId: 'r1' }],
      control: true,
    });
  });

  it("goes as far back as the service's clock may be behind, and no further", async () => {
    const behind = runFor('r1', 1, 1, 'b', SINCE - SKEW_MS);
    expect(
      (await look(pagesOf([...strangers(1), ...strangers(250, SINCE - SKEW_MS / 2), behind]))).found,
    ).toHaveLength(1);
    const asked: number[] = [];
    await look(({ limit, offset }) => {
      if (asked.push(offset) > 9) return [];
      return [...strangers(1), ...strangers(limit - 1, SINCE - SKEW_MS - 60_000)];
    });
    expect(asked).toEqual([0]);
  });

  it('is not complete where a page cannot be read', async () => {
    const broken: Listing = ({ limit, offset }) => {
      if (offset > 0) throw new Error('502');
      return strangers(limit);
    };
    expect(await look(broken)).toMatchObject({ answer: 'incomplete', found: [], control: false });
  });

  it('says that there is no list where the service has none, or nothing names the workflow', async () => {
    expect(await look(() => undefined)).toMatchObject({ answer: 'none' });
    const unnamed = handsOf({ service: { getRun: async () => undefined } });
    expect(
      await lookInLists(unnamed, { ...PLACE, attempts: [], since: SINCE, control: 'control' }),
    ).toMatchObject({ answer: 'none' });
  });
});
