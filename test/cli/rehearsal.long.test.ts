import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import type { Summary } from '../../src/results/summary.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow, mostOutstanding } from '../stage/truth.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/portraits.csv');
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

describe('the example, as npm start runs it', () => {
  const stage = sharedStage();
  const args = ['run', EXAMPLE, '-d', 'portraits', '--local'];
  const sheet = parse(readFileSync(EXAMPLE), { columns: true }) as Record<string, string>[];
  let first: Ended;

  beforeAll(async () => {
    first = await stage.run(args);
  });

  it('ends with 0 and the folder of the batch on stdout', () => {
    expect(first.stderr).toContain('26 of 26 rows succeeded');
    expect(first.code).toBe(0);
    expect(first.stdout.trim()).toBe(stage.batch());
  });

  it('says that it is a rehearsal', () => {
    expect(first.stderr).toContain('rehearsal');
    expect(JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8'))).toMatchObject({
      rehearsal: true,
      rows: 26,
    });
  });

  it('knows that each of its requests was accepted, and its encrypted workers refused nothing that they wrote', () => {
    const { requests } = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    expect(requests).toMatchObject({ sent: 26, accepted: 26, unconfirmed: 0 });
    expect(readFileSync(stage.path('.runsheet', 'logs', 'worker.log'), 'utf8')).not.toContain('was refused');
  });

  it('has a line per row in the order of the sheet, with the columns of the sheet', () => {
    const results = stage.results();
    expect(results.map(({ row }) => Number(row))).toEqual(sheet.map((_, at) => at + 1));
    for (const [at, line] of results.entries())
      expect(line).toMatchObject({ ...sheet[at], outcome: 'succeeded', attempts: '1' });
  });

  it('shows the id, gpu, times and cost of each run', () => {
    for (const line of stage.results()) {
      expect(line['run_id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(line['gpu_asked']).toBe(line['gpu']);
      expect(line['gpu_used']).toBe(line['gpu'] || 'A10G');
      expect(Number(line['run_seconds'])).toBeGreaterThan(0);
      expect(line['queue_seconds']).not.toBe('');
      expect(line['cold_start_seconds']).not.toBe('');
      expect(Number(line['cost_usd'])).toBeGreaterThan(0);
    }
  });

  it('has a different PNG for each row', () => {
    const pictures = stage.results().map(({ outputs = '' }) => readFileSync(join(stage.batch(), outputs)));
    for (const picture of pictures) expect(picture.subarray(0, 8)).toEqual(PNG);
    expect(new Set(pictures.map((picture) => picture.toString('base64'))).size).toBe(26);
  });

  it('reports when repeated that it is done, and where the results are', async () => {
    const again = await stage.run(args);
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('which has ended');
    expect(again.stderr).toContain(`\n  new       runsheet ${args.join(' ')} --again\n`);
    expect(again.stdout.trim()).toBe(stage.batch());
  });

  it('starts its run service for the log of a run and for the run list', async () => {
    const log = await stage.run(['logs', '1']);
    expect([log.code, log.stdout]).toEqual([0, expect.stringContaining('Prompt executed')]);
    const verified = await stage.run(['verify']);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining('ok   runs in the lists of the service: 26\n'),
    ]);
  });

  it('ends with the commands that open and export it', () => {
    const { batch } = stage.batchFile();
    const next = `  open      runsheet open ${batch}\n  export    runsheet export ${batch} --as xlsx\n`;
    expect(first.stderr.endsWith(next)).toBe(true);
  });

  it('bought exactly one run per row, with its inputs, gpu and seed, digit for digit, within its cap', async () => {
    const key = readFileSync(stage.path('.runsheet', 'local-service-token'), 'utf8');
    const start = ['service', '--db', stage.path('.runsheet', 'local-service.db')];
    const service = stage.start(start, { RUNSHEET_SERVICE_TOKEN: key });
    const [, base = ''] = await service.says(/RUNSHEET_API_URL=(\S+)/);
    const runs = await stage.truth(base, key);
    await service.kill('SIGTERM');
    expectOneRunPerRow(runs, 26);
    expect(mostOutstanding(runs)).toBe(8);
    for (const row of sheet) {
      const { number, prompt, seed, steps, gpu } = row;
      const expected = {
        number: Number(number),
        prompt,
        seed: '',
        ...(steps ? { steps: Number(steps) } : {}),
      };
      const run = runs.find(({ inputs }) => inputs?.['prompt'] === prompt);
      expect(JSON.stringify(run?.inputs?.['seed'])).toBe(seed);
      expect({ ...run?.inputs, seed: '' }).toEqual(expected);
      expect(run?.gpu).toBe(gpu || 'A10G');
    }
  });

  it('is shown by list, status, rows, show and results', async () => {
    const [list, status, rows, show, results] = [
      await stage.run(['list', '-o', 'json']),
      await stage.run(['status', '-o', 'json']),
      await stage.run(['rows', '-o', 'jsonl', '--outcome', 'succeeded']),
      await stage.run(['show', 'portraits', '3', '-o', 'json']),
      await stage.run(['results', '-o', 'csv']),
    ];
    expect(JSON.parse(list.stdout)).toMatchObject([{ state: 'finished', rows: 26 }]);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: 'finished', outcomes: { succeeded: 26 } });
    expect(rows.stdout.trim().split('\n')).toHaveLength(26);
    expect(JSON.parse(show.stdout)).toMatchObject({ row: 3, outcome: 'succeeded' });
    expect(results.stdout).toBe(readFileSync(join(stage.batch(), 'results.csv'), 'utf8'));
  });
});
