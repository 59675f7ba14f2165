// Rows that are sent again and again, with every outcome that an attempt can have: each keeps its best result (R33), and everything
// that reads the parts of the batch agrees about it.

import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectRows } from '../../activities/collect-rows.ts';
import { addTallies, costSoFar, NO_TALLY, rowsDone } from '../../src/batch/accounting/tally.ts';
import { OUTCOMES, type Outcome } from '../../src/batch/outcome.ts';
import { placeIn } from '../../src/batch/state/lanes.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { recount } from '../../src/audit/verify.ts';
import { recordOf, rowsOf } from '../../src/results/batch-rows.ts';
import { newestRecords } from '../../src/results/newest-parts.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartResult } from '../../src/batch/events.ts';
import { cellsOf } from '../../src/results/result-cells.ts';
import type { RowRecord } from '../../src/results/row-record.ts';
import { addRecord } from '../../src/results/tally-rows.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { FileFault } from '../../src/host/http/download-faults.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { depsOf, downloadOf, MARK, REF, runOf } from './deps.ts';
import { sharedFolder } from '../stage/fresh-folder.ts';

const ROWS = 3;

/** How each sending of a row ends. */
const ENDS = [...OUTCOMES, 'not sent', 'proved absent', 'no files'] as const;
type End = (typeof ENDS)[number];

type Expected = { outcome: Outcome; run: string; files: number; change: number };

const outcomeOf = (end: End): Outcome =>
  end === 'not sent' || end === 'proved absent' ? 'cancelled' : end === 'no files' ? 'failed' : end;

const hasRun = (end: End): boolean =>
  end !== 'not sent' && end !== 'proved absent' && end !== 'refused' && end !== 'unknown';

/** The rule in its own words: a newer attempt replaces an older outcome only if it succeeded, or if the older one had not. */
function expectedOf(ends: readonly End[], row: number): Expected {
  let best: Expected | undefined;
  for (const [at, end] of ends.entries()) {
    const run = hasRun(end) ? `run-${row}-${at}` : '';
    const now = { outcome: outcomeOf(end), run, files: end === 'succeeded' ? 1 : 0, change: at };
    const isNothing = end === 'not sent' || end === 'proved absent';
    if (best === undefined || end === 'succeeded' || (best.outcome !== 'succeeded' && !isNothing)) best = now;
  }
  return best as Expected;
}

function endedAs(end: End, place: number, runId: string): EndedRow {
  if (end === 'not sent') return { place, attempts: [] };
  if (end === 'proved absent') return { place, attempts: [{ attempt: 1, outcome: 'absent' }] };
  if (!hasRun(end)) return { place, attempts: [{ attempt: 1, outcome: outcomeOf(end), reason: 'why' }] };
  const outcome = end === 'no files' ? 'succeeded' : outcomeOf(end);
  const last = { place, attempts: [{ attempt: 1, outcome, runId }] };
  return end === 'no files' ? { ...last, isLastTry: true } : last;
}

describe('a row that is sent again', () => {
  const root = sharedFolder();

  /** Sends all rows once for each end, as the passes of one batch. */
  async function batchOf(rows: readonly (readonly End[])[], folder: string) {
    const store = folderStore(folder);
    const file = { mark: MARK, sheet: { rows: ROWS, pages: 1, inputs: [] } } as unknown as BatchFile;
    const lines = rows.map((_, at) => rowLine(at + 1, `k${at + 1}`, undefined, '{}'));
    await layoutOf(store, file).write(pageName(1), lines.join(''));
    let tally = NO_TALLY;
    const passes = Math.max(...rows.map((ends) => ends.length));
    for (let pass = 1; pass <= passes; pass += 1) {
      const sent = rows.flatMap((ends, at) => {
        const [row, end] = [at + 1, ends[pass - 1]];
        const place = pass === 1 ? row : placeIn(0, pass * 500 + row);
        return end === undefined ? [] : [{ row, end, place, id: `run-${row}-${pass - 1}` }];
      });
      const deps = depsOf({
        store,
        service: {
          getRun: async (id) => {
            const { end = 'failed' } = sent.find((candidate) => candidate.id === id) ?? {};
            const isGood = end === 'succeeded' || end === 'no files';
            const run = runOf(id, isGood ? 'success' : 'failed', [`http://files/${id}`]);
            return { ...run, gpu: 'L4', coldStartSeconds: 0, runSeconds: 1 };
          },
        },
        readRows: async (_, places) =>
          new Map(
            sent
              .filter(({ place }) => places.includes(place))
              .map(({ row, place }) => {
                const again = pass === 1 ? {} : { before: partName(1, pass - 1).slice('parts/'.length) };
                const change = { set: { n: pass - 1 } };
                return [place, { row, key: `k${row}`, inputs: { n: pass - 1 }, change, ...again }];
              }),
          ),
        download: downloadOf((url) => {
          const { end } = sent.find(({ id }) => url.endsWith(id)) ?? {};
          if (end === 'no files') throw new FileFault('gone', 1);
          return Buffer.from(url);
        }),
      });
      const result: PartResult = await new MockActivityEnvironment().run(() =>
        collectRows(deps, {
          ...REF,
          pass: 1,
          part: pass,
          rows: sent.map(({ end, place, id }) => endedAs(end, place, id)),
        }),
      );
      tally = addTallies(tally, result.tally);
      expect(result.fetched).toBe(sent.filter(({ end }) => end === 'succeeded').length);
    }
    return { store, file, tally };
  }

  it('keeps its best result whatever becomes of later attempts, and tally, results, verify and rows agree', async () => {
    const seen = new Set<string>();
    let batches = 0;
    // A shorter row would need the part of an earlier pass, so all rows are sent in each pass.
    const histories = fc.integer({ min: 1, max: 4 }).chain((passes) =>
      fc.array(fc.array(fc.constantFrom(...ENDS), { minLength: passes, maxLength: passes }), {
        minLength: ROWS,
        maxLength: ROWS,
      }),
    );
    await fc.assert(
      fc.asyncProperty(histories, async (rows) => {
        batches += 1;
        const { store, file, tally } = await batchOf(rows, join(root, String(batches)));
        const records: RowRecord[] = [];
        let at = 0;
        for await (const row of rowsOf(store, file)) {
          const record = recordOf(row, file);
          records.push(record);
          const ends = rows[at] ?? [];
          const expected = expectedOf(ends, at + 1);
          const { outcome, files, attempts, inputs } = record;
          expect({ outcome, run: cellsOf(record).run_id, files: files.length, change: inputs['n'] }).toEqual(
            expected,
          );
          expect(attempts.flatMap(({ run_id }) => run_id ?? [])).toEqual(
            ends.flatMap((end, pass) => (hasRun(end) ? [`run-${at + 1}-${pass}`] : [])),
          );
          expect(new Set(attempts.map(({ attempt }) => attempt)).size).toBe(attempts.length);
          for (const end of ends.slice(ends.indexOf('succeeded') + 1))
            if (ends.includes('succeeded')) seen.add(end);
          at += 1;
        }
        const counted = await recount(store, file, { files: true, known: { add: () => undefined } });
        expect(counted.badFiles).toEqual([]);
        expect(counted.outcomes).toEqual(tally.outcomes);
        let newest = NO_TALLY;
        for await (const record of newestRecords(store, ROWS)) newest = addRecord(newest, record);
        expect(newest.outcomes).toEqual(tally.outcomes);
        expect(rowsDone(tally)).toBe(ROWS);
        for (const cost of [costSoFar(newest), counted.costUsd]) expect(cost).toBeCloseTo(costSoFar(tally));
        const shown = records.reduce((sum, record) => sum + Number(cellsOf(record).cost_usd), 0);
        expect(shown).toBeCloseTo(costSoFar(tally));
        expect(costSoFar(tally) > 0).toBe(rows.flat().some(hasRun));
      }),
      // With this seed every kind of end follows a success.
      { numRuns: 60, seed: 31 },
    );
    expect([...seen].sort(), 'what followed a success').toEqual([...ENDS].sort());
  });
});
