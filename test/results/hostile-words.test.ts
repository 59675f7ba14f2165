// A run service that puts a formula, escape codes and bidi controls into every text that it may say. Its words are read
// back where a person meets them: spreadsheets, the report, a terminal. The user's own cells stand there as given.

import { FILE as VALID } from '../store/batch-facts.ts';
import type { ShownProgress } from '../../src/library/handle/batch-status.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { MockActivityEnvironment } from '@temporalio/testing';
import { parse } from 'csv-parse/sync';
import { parseHTML } from 'linkedom';
import { beforeAll, describe, expect, it } from 'vitest';
import { collectRows } from '../../activities/collect-rows.ts';
import { begin } from '../../src/batch/state/state.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { printError, printerFor, type Context } from '../../src/cli/context.ts';
import { openProgressView } from '../../src/cli/follow/progress-view.ts';
import { problem, errorMessage } from '../../src/errors/error.ts';
import { results, rows, show } from '../../src/cli/batch/rows.ts';
import { writeResults } from '../../src/results/results.ts';
import { runSchema, webhookSchema } from '../../src/service-client/contract/run.ts';
import { outcomeOf } from '../../src/service-client/run-outcome.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { createBatchFile, layoutOf } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { depsOf, MARK, REF } from '../activities/deps.ts';
import { paramsOf } from '../batch/params.ts';
import { readReport } from './page/read-report.ts';
import { sharedFolder } from '../stage/fresh-folder.ts';

const ESCAPE = '\t\u001B[31m\u001B]0;title\u0007\u009B2J';
const BIDI = '\u202Egpj.exe\u2066\u200B\u{E0041}';
const evil = (field: string): string =>
  `=HYPERLINK("http://x","${field}")${ESCAPE}${BIDI}</script>\r\n${field}`;
// The user's own cells: a formula and a mark that Persian needs.
const [OWN, KEY] = ['=A1+1', '=key\u200Ckey'];
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069]|\u{E0041}/u;
const RUN = runSchema.parse({
  id: evil('id'),
  status: 'failed',
  live_status: evil('live_status'),
  gpu: evil('gpu'),
  machine_type: evil('machine_type'),
  machine_version: evil('machine_version'),
  created_at: '2026-11-21T10:00:00Z',
  queued_at: '2026-11-21T10:00:01Z',
  ended_at: '2026-11-21T10:00:09Z',
  run_duration: 3,
  outputs: [{ node_id: evil('node'), data: { text: [evil('text')] } }],
});

const FILE = {
  ...VALID,
  mark: MARK,
  sheet: { ...VALID.sheet, rows: 2 },
  deployment: { id: 'd', name: evil('deployment') },
};

describe('the words of a hostile service', () => {
  const out = sharedFolder();
  const store = () => folderStore(join(out, 'b'));
  const text = async (name: string): Promise<string> => (await store().read(name)) ?? '';

  beforeAll(async () => {
    await createBatchFile(store(), FILE);
    const layout = layoutOf(store(), FILE);
    await layout.write('sheet.csv', `prompt\n"${OWN}"\n"${OWN}"\n`);
    const line = (row: number): string =>
      rowLine(row, `${KEY}${row}`, undefined, JSON.stringify({ prompt: OWN }));
    await layout.write(pageName(1), line(1) + line(2));
    const state = outcomeOf(RUN);
    const ended = state.kind === 'ended' ? state : undefined;
    const failed = {
      attempt: 1,
      outcome: 'failed',
      runId: RUN.id,
      ...(ended?.reason === undefined ? {} : { reason: ended.reason }),
    } as const;
    const ends: EndedRow[] = [
      { place: 1, attempts: [failed] },
      { place: 2, attempts: [{ attempt: 1, outcome: 'succeeded', runId: RUN.id }] },
    ];
    const deps = depsOf({
      store: store(),
      service: { getRun: async () => RUN },
      readRows: async (_, numbers) =>
        new Map(numbers.map((row) => [row, { row, key: `${KEY}${row}`, inputs: { prompt: OWN } }])),
    });
    await new MockActivityEnvironment().run(() =>
      collectRows(deps, { ...REF, pass: 1, part: 1, rows: ends }),
    );
    await writeResults({
      confirm: async () => undefined,
      file: FILE,
      store: store(),
      progress: progress(begin(paramsOf({ rows: 2 }), WRITES, 1_000)),
      startedAt: 1_000,
      endedAt: 61_000,
      reading: { lists: 'none', duplicates: { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] } },
      isEvidenceLost: false,
      throughPass: 1,
    });
  });

  it.each(['results.csv', 'failures.csv'])('run no formula in %s, and hide nothing', async (name) => {
    const table: Record<string, string>[] = parse(await text(name), { columns: true });
    const [first] = table;
    expect(first?.['reason']).toContain('the run failed at: =HYPERLINK');
    expect(first?.['gpu_used']).toMatch(/^'=HYPERLINK/);
    expect(first?.['run_id']).toMatch(/^'=HYPERLINK/);
    const harmless = expect.stringMatching(/^'=HYPERLINK.*\ntext$/s) as string;
    expect(table.map(({ texts }) => texts)).toEqual(name === 'results.csv' ? ['', harmless] : ['']);
    for (const row of table) {
      for (const column of ['reason', 'gpu_used', 'run_id', 'outcome', 'nodes', 'texts', 'outputs'])
        expect([column, row[column]]).toEqual([column, expect.not.stringMatching(OBEYED)]);
      expect(row['prompt']).toBe(OWN);
      expect(row['key']).toContain(KEY);
    }
  });

  it('stay exact in results.jsonl', async () => {
    const [line = ''] = (await text('results.jsonl')).split('\n');
    expect(JSON.parse(line)).toMatchObject({
      key: `${KEY}1`,
      attempts: [{ gpu_used: RUN.gpu, run_id: RUN.id }],
    });
  });

  it('are text in the report, without anything that reorders or hides it', async () => {
    const { html, facts, texts, rows: shown } = await readReport(store());
    const { document } = parseHTML(html);
    const kinds = [...document.querySelectorAll('script')].map((script) => script.getAttribute('type'));
    // Only the page's own script runs.
    expect(kinds.filter((kind) => kind === null)).toHaveLength(1);
    expect(new Set(kinds)).toEqual(new Set(['application/json', 'text/plain', null]));
    const [failed] = shown;
    const [gpu] = facts.gpus.slice(1);
    const { reason, attempts } = failed ?? { reason: undefined, attempts: [] };
    for (const words of [reason, gpu, facts.deployment, texts('reason')[0], attempts[0]?.gpu_used]) {
      expect(words).toContain('=HYPERLINK');
      expect(words).not.toMatch(OBEYED);
    }
    expect(texts('key')).toEqual([`${KEY}1`, `${KEY}2`]);
    expect(failed?.inputs['prompt']).toBe(OWN);
  });

  const FIELDS = 'row,key,gpu_used,run_id,reason,prompt';
  const rowsAs = (output: 'table' | 'csv' | 'jsonl' | 'json'): Promise<string> =>
    data((context) => rows.call(context, { out, output, fields: FIELDS, follow: false }, 'b'));
  const resultsAs = (output: 'csv' | 'jsonl' | 'json'): Promise<string> =>
    data((context) => results.call(context, { out, output }, 'b'));
  const shown = (output: 'text' | 'json'): Promise<string> =>
    said((context) => show.call(context, { out, output }, 'b', '1'));

  it.each([
    ['rows -o table', () => rowsAs('table')],
    ['rows -o jsonl', () => rowsAs('jsonl')],
    ['rows -o json', () => rowsAs('json')],
    ['results -o jsonl', () => resultsAs('jsonl')],
    ['results -o json', () => resultsAs('json')],
    ['show', () => shown('text')],
    ['show -o json', () => shown('json')],
  ])('are nothing that a terminal obeys in %s', async (_, print) => {
    expect(await print()).toContain('HYPERLINK');
    expect(await print()).not.toMatch(OBEYED);
  });

  it.each([
    ['rows -o csv', () => rowsAs('csv')],
    ['results -o csv', () => resultsAs('csv')],
  ])(
    'are nothing that a terminal or a spreadsheet obeys in %s, and the cells of the user stay',
    async (_, print) => {
      const printed = await print();
      expect(printed.replaceAll(KEY, '')).not.toMatch(OBEYED);
      expect(parse(printed, { columns: true })).toMatchObject([
        { key: `${KEY}1`, gpu_used: expect.stringMatching(/^'=/) },
        { key: `${KEY}2`, prompt: OWN },
      ]);
    },
  );

  it('stay exact for who reads JSON, and in their columns for who reads a table', async () => {
    const exact = { key: `${KEY}1`, attempts: [{ gpu_used: RUN.gpu, run_id: RUN.id }] };
    expect(JSON.parse(await rowsAs('json'))).toMatchObject([exact, {}]);
    expect(JSON.parse(await shown('json'))).toMatchObject(exact);
    const widths = (await rowsAs('table')).split('\n').map((line) => line.split('\t').length);
    expect(widths).toEqual([6, 6, 6, 1]);
  });

  it('are nothing to obey in the live view, on a terminal and in lines', () => {
    const { lastFailure: _, ...started } = progress(begin(paramsOf({ rows: 2 }), WRITES, 1_000));
    const now: ShownProgress = {
      ...started,
      state: 'paused',
      reason: evil('pause'),
      lastFailure: { row: 1, outcome: 'failed', reason: evil('failure') },
    };
    for (const isTerminal of [true, false]) {
      let printed = '';
      const write = (message: string): boolean => ((printed += message), true);
      const stream = { columns: 4_000, write } as unknown as NodeJS.WriteStream;
      const printer = {
        isTerminal,
        paint: (__: unknown, message: string) => message,
        notice: (message: string) => void write(`${message}\n`),
      };
      openProgressView(printer as unknown as Parameters<typeof openProgressView>[0], stream).show(now, 0);
      expect(printed).toContain('HYPERLINK');
      expect(printed).not.toMatch(OBEYED);
    }
  });

  it('are nothing to obey in an error, for people and for programs', async () => {
    for (const output of ['text', 'json'] as const)
      for (const error of [
        problem('E304', { base: 'http://x', reason: evil('reason') }),
        new Error(evil('x')),
      ]) {
        const printed = await said(async (context) => (printError(context, error, output), 0));
        expect(printed).toContain('HYPERLINK');
        expect(printed).not.toMatch(OBEYED);
      }
  });

  it('move no cursor and hide nothing even in a line that was not guarded', async () => {
    const printed = await said(async (context) => {
      printerFor(context).notice(`\u001B[32mok\u001B[39m ${BIDI}\u001B[2J\r`);
      printerFor(context).raw('\u009B2J\n');
      return 0;
    });
    expect(printed).toBe('\u001B[32mok\u001B[39m gpj.exe [2J \n 2J\n');
  });

  it('are bounded where they are taken in', () => {
    const long = 'x'.repeat(1_000_000);
    expect(errorMessage(new Error(long)).length).toBeLessThanOrEqual(1_000);
    const run = runSchema.parse({
      id: 'r',
      status: long,
      live_status: long,
      gpu: long,
      outputs: [{ node_id: long, data: { images: [{ url: 'http://x/', filename: long }] } }],
    });
    expect(run.status.length + (run.gpu ?? '').length).toBeLessThan(200);
    const hint = webhookSchema.parse({ run_id: randomUUID(), status: long });
    expect(hint.status.length + runSchema.parse({ id: long, status: 'x' }).id.length).toBeLessThan(300);
    expect(
      (run.outputs[0]?.nodeId ?? '').length + (run.outputs[0]?.files[0]?.filename ?? '').length,
    ).toBeLessThan(500);
    const state = outcomeOf({ status: 'failed', endedAtMs: 1, liveStatus: long });
    expect(JSON.stringify(state).length).toBeLessThan(500);
  });
});

/** The output of a command on both streams. */
const said = async (work: (context: Context) => Promise<unknown>): Promise<string> =>
  Object.values(await streamsOf(work)).join('');

/** The output of a command on stdout. */
const data = async (work: (context: Context) => Promise<unknown>): Promise<string> =>
  (await streamsOf(work)).stdout;

async function streamsOf(work: (context: Context) => Promise<unknown>) {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof printed): Writable =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        printed[name] += chunk.toString();
        done();
      },
    });
  await work({ process: { stdout: stream('stdout'), stderr: stream('stderr') } } as unknown as Context);
  return printed;
}
