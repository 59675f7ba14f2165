// The pictures of the live view, drawn on a stream that is no terminal of anybody.

import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { progress as progressOf } from '../../src/batch/shown/progress.ts';
import type { Printer } from '../../src/cli/context.ts';
import { openProgressView } from '../../src/cli/follow/progress-view.ts';
import { type Phases } from '../../src/cli/follow/run-phases.ts';
import { rowsEnded, type ShownProgress } from '../../src/library/handle/batch-status.ts';
import { World } from '../batch/world.ts';

let written: string[];
let noticed: string[];
beforeEach(() => {
  written = [];
  noticed = [];
});

const { lastFailure: _, ...FRESH } = progressOf(new World({ rows: 40, concurrency: 16 }).state);

const having = (changed: Partial<ShownProgress>): ShownProgress => ({
  ...FRESH,
  sending: 0,
  unsent: 0,
  ...changed,
});

const tallyOf = (outcomes: Partial<ShownProgress['tally']['outcomes']>): ShownProgress['tally'] => ({
  ...FRESH.tally,
  outcomes: { ...FRESH.tally.outcomes, ...outcomes },
});

const printer = (isTerminal: boolean): Printer =>
  ({
    isTerminal,
    paint: (_style: unknown, text: string) => text,
    notice: (text: string) => noticed.push(text),
    forPeople: (text: string) => `${text} for people`,
  }) as unknown as Printer;

function viewOf(isTerminal: boolean, columns = 120) {
  const stream = { columns, write: (text: string) => written.push(text) > 0 };
  return openProgressView(printer(isTerminal), stream);
}

/** The last block that was drawn, without the codes that clear the one before. */
function drawn(progress: ShownProgress, phases?: Phases, columns = 120): readonly string[] {
  viewOf(true, columns).show(progress, 1_000, phases);
  return stripVTControlCharacters(written.at(-1) ?? '').split('\n');
}

it('a note above the block is a text for people, as everywhere', () => {
  viewOf(true).note('see: runsheet list');
  expect(written.join('')).toContain('see: runsheet list for people\n');
});

describe('rows that are done', () => {
  it('are those with an outcome, also while their files are stored, on a terminal and in lines', () => {
    const storing = having({ done: 4, collecting: 3, running: 16, tally: tallyOf({ succeeded: 4 }) });
    expect(rowsEnded(storing)).toBe(7);
    expect(drawn(storing).join('\n')).toContain(' 7/40 ');
    viewOf(false).show(storing, 1_000);
    expect(noticed.at(-1)).toContain('done=7 storing=3 succeeded=4 not_succeeded=0 total=40');
  });

  it('keep their outcome while they are sent again, and their number falls at no speed', () => {
    const view = viewOf(false);
    const tally = tallyOf({ succeeded: 39, failed: 1 });
    view.show(having({ done: 40, tally }), 1_000);
    view.show(having({ done: 10, tally }), 12_000);
    expect(noticed.at(-1)).toContain('done=10 succeeded=39 not_succeeded=1 total=40');
    expect(noticed.at(-1)).toContain('rows_per_s=0.0');
    view.show(having({ done: 20, tally }), 22_000);
    expect(noticed.at(-1)).toContain('rows_per_s=1.0 eta_s=20');
  });
});

it.each([true, false])('draws nothing that arrives after its end (terminal: %s)', (isTerminal) => {
  const view = viewOf(isTerminal);
  view.show(having({ done: 39 }), 1_000);
  view.end();
  const before = [written.length, noticed.length];
  view.show(having({ done: 40, state: 'finished' }), 60_000);
  expect([written.length, noticed.length]).toEqual(before);
});

describe('on a terminal', () => {
  it('says in which phase the runs in flight are', () => {
    const text = drawn(having({ running: 16, done: 4 }), { running: 9, starting: 2, queued: 5 }).join('\n');
    expect(text).toContain('16 of 16 in flight: 9 running, 2 starting, 5 queued at the service');
  });

  it('calls runs sent that the list does not show yet', () => {
    const text = drawn(having({ running: 16 }), { running: 9, starting: 0, queued: 0 }).join('\n');
    expect(text).toContain('in flight: 9 running, 7 sent');
  });

  it('says that it writes results after the last row, with a full bar', () => {
    const text = drawn(having({ done: 40, tally: tallyOf({ succeeded: 40 }) })).join('\n');
    expect(text).toContain('100.0%   40/40');
    expect(text).toContain('writing results…');
    expect(text).not.toContain('░');
  });

  it('says that it stores files while rows that ended are not stored', () => {
    expect(drawn(having({ done: 38, collecting: 2 })).join('\n')).toContain('storing the files of 2 rows…');
  });

  it('has no full percentage before the last row', () => {
    const text = drawn(having({ rows: 100_000, done: 99_999, running: 1 })).join('\n');
    expect(text).toContain('99.9%');
    expect(text).toContain('░');
  });

  it('shows the three most frequent reasons of failures', () => {
    const failures = { refused: 1, 'out-of-memory': 12, timeout: 3, 'node-error': 2 } as const;
    expect(drawn(having({ failures })).join('\n')).toContain(
      'failed attempts  12 out-of-memory · 3 timeout · 2 node-error',
    );
  });

  it.each([40, 80, 200])('fits into %i columns', (columns) => {
    const lastFailure = { row: 3, outcome: 'failed', reason: '画像を作れません '.repeat(30) } as const;
    const lines = drawn(
      having({ running: 16, lastFailure }),
      { running: 9, starting: 2, queued: 5 },
      columns,
    );
    const cells = (line: string): number => line.replaceAll(/[぀-ヿ一-鿿]/g, '..').length;
    expect(Math.max(...lines.map(cells))).toBeLessThan(columns);
  });
});

describe('elsewhere', () => {
  it('prints a line for a new state, and every 10 s in which something changed', () => {
    const view = viewOf(false);
    view.show(having({ done: 1 }), 0);
    view.show(having({ done: 2 }), 9_000);
    view.show(having({ done: 2 }), 11_000);
    view.show(having({ done: 2 }), 30_000);
    view.show(having({ done: 2, state: 'paused' }), 31_000);
    expect(noticed.map((line) => /state=\w+ done=\d+/.exec(line)?.[0])).toEqual([
      'state=running done=1',
      'state=running done=2',
      'state=paused done=2',
    ]);
  });

  it('shows phases and failures as values', () => {
    viewOf(false).show(having({ running: 3, failures: { timeout: 2 } }), 0, {
      running: 1,
      starting: 2,
      queued: 0,
    });
    expect(noticed[0]).toMatch(/outstanding=3 queued=0 starting=2 running=1 .* failures=timeout:2/);
  });
});
