import { serialize } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsDone } from '../../src/batch/accounting/tally.ts';
import { stillUnconfirmed } from '../../src/batch/accounting/request-ledger.ts';
import { publish } from '../../src/batch/decisions/publish.ts';
import { DECISIONS } from '../../src/batch/step.ts';
import { params, perform, randomActions, anyParams, faultyActions } from './random-actions.ts';
import { World } from './world.ts';

const numbersTo = (rows: number): readonly number[] => Array.from({ length: rows }, (_, at) => at + 1);

describe('step', () => {
  it('whatever happens in whatever order, a batch ends every row once, posts no attempt twice, keeps its concurrency, buys a row again only after an end without success, and its ledger adds up', () => {
    fc.assert(
      fc.property(params, randomActions(120), (given, actions) => {
        const world = new World(given);
        perform(world, actions);
        world.settle();
        expect(world.problems).toEqual([]);
        expect([...world.folder.rows.keys()].sort((a, b) => a - b)).toEqual(numbersTo(given.rows));
        expect(world.folder.repeated).toEqual([]);
        expect(rowsDone(world.state.tally)).toBe(given.rows);
        expect(stillUnconfirmed(world.state.ledger)).toBe(0);
        for (const bought of Map.groupBy(world.service.runs, ({ place }) => place).values()) {
          expect(bought.length).toBeLessThanOrEqual(1 + given.retries);
          expect(bought.filter(({ status }) => status === 'succeeded').length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('also if the service starts runs that the batch did not ask for, or hides those that it started, a batch names every run that it was shown, and counts only its own as successes', () => {
    fc.assert(
      fc.property(anyParams, faultyActions(120), (given, actions) => {
        const world = new World(given);
        perform(world, actions);
        for (const run of world.service.runs) if (!world.state.finished) world.callBack(run);
        const shown = world.state.finished ? [] : world.service.runs.map(({ runId }) => runId);
        world.settle();
        expect(world.problems).toEqual([]);
        expect(rowsDone(world.state.tally)).toBe(given.rows);
        const rows = [...world.folder.rows.values()];
        const named = new Set(rows.flatMap(({ attempts }) => attempts.map(({ runId }) => runId)));
        expect(shown.filter((runId) => !named.has(runId) && !world.folder.evidence.has(runId))).toEqual([]);
        for (const [row, outcome] of world.folder.outcomes) {
          if (outcome !== 'succeeded') continue;
          const last = world.folder.rows.get(row)?.attempts.at(-1);
          const run = world.service.find(last?.runId ?? '');
          expect(run).toMatchObject({ place: row, attempt: last?.attempt, status: 'succeeded' });
        }
      }),
      { numRuns: 150 },
    );
  });

  it('a batch that is cancelled at any moment sends nothing more, and ends', () => {
    fc.assert(
      fc.property(
        anyParams,
        faultyActions(40),
        faultyActions(40),
        fc.boolean(),
        (given, before, after, isRunning) => {
          const world = new World(given);
          perform(world, before);
          world.apply({ type: 'cancel', running: isRunning });
          const inFlight = world.sends.reduce((sum, { attempts }) => sum + attempts.length, 0);
          const posted = world.service.posted.size;
          perform(world, after);
          world.settle();
          expect(world.problems).toEqual([]);
          expect(world.service.posted.size).toBeLessThanOrEqual(posted + inFlight);
          expect(rowsDone(world.state.tally)).toBe(given.rows);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('asking when a decision is due changes nothing', () => {
    fc.assert(
      fc.property(anyParams, faultyActions(60), (given, actions) => {
        const world = new World(given);
        for (const { act } of actions) {
          act(world);
          for (const { dueAt, name } of [...DECISIONS, publish]) {
            const before = serialize(world.state);
            const at = dueAt(world.state);
            expect(serialize(world.state).equals(before), name).toBe(true);
            expect(dueAt(world.state), name).toBe(at);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
