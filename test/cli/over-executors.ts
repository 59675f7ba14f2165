// A batch behaves alike on every executor: rows that fail and are sent again, pause, resume, other limits, a worker that dies,
// cancel.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '../../src/service-client/contract/run.ts';
import { openGround, type Executor, type Ground } from '../stage/executors.ts';
import { Stage, until, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const FAILING = 30;
const ROWS = 120;
const PLACES = 24;
/** The command has servers of its own. */
const NOTHING_SET = { RUNSHEET_API_URL: '', RUNSHEET_API_KEY: '', TEMPORAL_ADDRESS: '' };

export const batchesOver = (executor: Executor): unknown =>
  describe(`a batch over ${executor}`, () => {
    const stage = new Stage();
    let ground: Ground;
    let worker: Awaited<ReturnType<Stage['worker']>>;
    beforeAll(async () => {
      await stage.temporal();
      ground = await openGround(executor, stage, PLACES, [
        { name: 'portraits', seconds: 0.2 },
        { name: 'slow', seconds: 2 },
        { name: 'heavy', seconds: 0.1, isTooLarge: true },
      ]);
      worker = await stage.worker();
    });
    afterAll(async () => {
      await stage.close();
      await ground[Symbol.asyncDispose]();
    });
    const boughtBy = async (batch: string): Promise<readonly Run[]> =>
      runsOf(await stage.truth(), stage.batchFile(stage.path('batches', batch)));

    describe('with rows that fail permanently', () => {
      const folders: string[] = [];
      let first: Ended;
      beforeAll(async () => {
        await ground.breaks(0.4);
        first = await stage.runHere(['run', stage.sheet(FAILING), '-d', 'portraits', '--retries', '0']);
        folders.push(first.stdout.trim());
        await ground.breaks(0);
      });

      const linesOf = (name: string): string[] =>
        readFileSync(join(folders[0] ?? '', name), 'utf8')
          .trim()
          .split('\n');

      it('end the command with 3, and failures.csv contains exactly these rows', () => {
        expect([first.code, first.code === 3 ? '' : first.stderr]).toEqual([3, '']);
        const failed = stage.results(folders[0]).filter(({ outcome }) => outcome === 'failed');
        expect(failed.length).toBeGreaterThan(3);
        expect(failed.length).toBeLessThan(FAILING);
        expect(linesOf('failures.csv')).toHaveLength(failed.length + 1);
        for (const { reason, run_id } of failed) expect([reason !== '', run_id !== '']).toEqual([true, true]);
      });

      it('are known as rows of their batch when run gets failures.csv, which names both commands', async () => {
        const path = join(folders[0] ?? '', 'failures.csv');
        const { batch } = stage.batchFile(folders[0]);
        const ended = await stage.runHere(['run', path, '-d', 'portraits']);
        expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('error[E534]')]);
        expect(ended.stderr).toContain(`runsheet run --into ${batch} ${path} -d portraits`);
        expect(ended.stderr).toContain(`runsheet run --again ${path} -d portraits`);
        const same = await stage.runHere(['run', path, '-d', 'portraits', '--into', batch]);
        expect([same.code, same.stderr]).toEqual([3, expect.stringContaining(': 0 new, 0 sent again')]);
      });

      it('succeed in their batch when run gets them corrected', async () => {
        const { batch } = stage.batchFile(folders[0]);
        const [header = '', ...lines] = linesOf('failures.csv');
        const mended = lines.map((line) => line.replace('portrait', 'a better portrait'));
        const path = stage.write('mended.csv', `${[header, ...mended].join('\n')}\n`);
        const bought = (await stage.truth()).length;
        const run = await stage.runHere(['run', path, '-d', 'portraits', '--into', batch]);
        expect([run.code, run.stderr]).toEqual([0, expect.stringContaining(`${lines.length} sent again`)]);
        const results = stage.results(folders[0]);
        expect(results).toHaveLength(FAILING);
        const better = results.filter(({ prompt = '' }) => prompt.startsWith('a better portrait'));
        expect(better.map(({ outcome, attempts }) => [outcome, attempts])).toEqual(
          lines.map(() => ['succeeded', '2']),
        );
        expect(await stage.truth()).toHaveLength(bought + lines.length);
        const verified = await stage.runHere(['verify', batch]);
        expect([verified.code, verified.stderr + verified.stdout]).toEqual([
          0,
          expect.stringContaining('adds up'),
        ]);
      });

      it('become a new batch with --again', async () => {
        const again = await stage.runHere(['run', stage.path('mended.csv'), '-d', 'portraits', '--again']);
        expect(again.stderr).toContain('rows succeeded');
        expect(again.code).toBe(0);
        const header = (path: string): string => readFileSync(path, 'utf8').split('\n')[0] ?? '';
        expect(header(join(again.stdout.trim(), 'results.csv'))).toBe(linesOf('results.csv')[0]);
      });
    });

    describe('under control', () => {
      let batch = '';

      const run = (...flags: readonly string[]): Promise<Ended> =>
        stage.runHere(['run', stage.path('sheet.csv'), '-d', 'slow', ...flags]);
      /** The exit code, and the last line before the suggested command. */
      const ended = ({ code, stderr }: Ended): readonly unknown[] => [
        code,
        stderr
          .trim()
          .split('\n')
          .findLast((line) => !line.startsWith('  ')),
      ];

      it('ends a pause when it is in force, says how many runs finish, and how to continue', async () => {
        batch = (await stage.runHere(['submit', stage.sheet(ROWS), '-d', 'slow', '-c', '10'])).stdout.trim();
        await until(async () => (await boughtBy(batch)).length >= 10, 'the batch is under way');
        const paused = await stage.runHere(['pause', batch, '--reason', 'lunch', '-o', 'json']);
        const { state } = JSON.parse(paused.stdout) as { state: string };
        // The document is of a moment later, when some have finished.
        const finish = /^paused; (?:1 run finishes|\d+ runs finish)$/;
        expect([state, ...ended(paused)]).toEqual(['paused', 0, expect.stringMatching(finish)]);
        const sent = (await boughtBy(batch)).length;
        const repeated = await stage.runHere(['pause', batch]);
        expect(ended(repeated)[1]).toMatch(/^already paused; /);
        expect(repeated.stderr).toMatch(new RegExp(`\\n  continue  runsheet resume ${batch}\\n$`));
        const again = await run('--rate', '900');
        expect([again.code, again.stderr]).toEqual([8, expect.stringContaining('paused by')]);
        expect(again.stderr).toContain('rate none → 900/min');
        expect(again.stderr).toContain(`runsheet resume ${batch}`);
        expect((await boughtBy(batch)).length).toBe(sent);
      });

      it('resumes with other limits, refuses those for which it has no room, and survives its worker', async () => {
        const refused = await stage.runHere(['scale', batch, '-c', '3000', '--retries', '20']);
        expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('error[E517]')]);
        const resumed = await stage.runHere(['resume', batch, '-c', '30', '--rate', 'none']);
        expect(ended(resumed)).toEqual([0, `${batch} continues; concurrency 10 → 30, rate 900/min → none`]);
        expect(resumed.stderr).toMatch(new RegExp(`\\n  follow    runsheet follow ${batch}\\n$`));
        await worker.kill();
        worker = await stage.worker();
        const again = await run('-c', '40', '-o', 'jsonl');
        expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('concurrency 30 → 40')]);
        const rows = again.stdout.trim().split('\n');
        expect(new Set(rows.map((line) => (JSON.parse(line) as { row: number }).row)).size).toBe(ROWS);
        expect(rows).toHaveLength(ROWS);
        expectOneRunPerRow(await boughtBy(batch), ROWS);
      });

      it('lists each pause and command with its time, its user and its reason', async () => {
        const { stdout } = await stage.runHere(['events', batch, '-o', 'json']);
        const events = JSON.parse(stdout) as { event: string; by?: string; reason?: string; at: string }[];
        expect(events.map(({ event }) => event)).toEqual([
          'created',
          'started',
          'paused',
          'scaled',
          'resumed',
          'scaled',
          'finished',
        ]);
        expect(events[2]?.reason).toMatch(/^paused by .+@.+: lunch$/);
        expect(events[3]?.by).toMatch(/.+@.+/);
        const times = events.map(({ at }) => Date.parse(at));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect((await stage.runHere(['events', batch, '--since', '0s'])).stdout).toBe('');
      });

      it('does nothing to a batch that has ended', async () => {
        expect(ended(await stage.runHere(['pause', batch]))).toEqual([
          0,
          `${batch} has ended; there is nothing to pause`,
        ]);
        expect((await stage.runHere(['scale', batch, '-c', '2'])).code).toBe(2);
        expect((await stage.runHere(['scale', batch])).stderr).toContain('no limit is given');
      });
    });

    it('leaves nothing that runs when it is cancelled', async () => {
      const started = await stage.runHere(['submit', stage.path('sheet.csv'), '-d', 'slow', '--again']);
      const batch = started.stdout.trim();
      await until(
        async () => (await boughtBy(batch)).some(({ status }) => status === 'running'),
        'it is under way',
      );
      expect((await stage.runHere(['cancel', batch])).code).toBe(0);
      expect((await stage.runHere(['wait', batch])).code).toBe(3);
      const runs = await boughtBy(batch);
      expect(runs.length).toBeLessThan(ROWS);
      expect(runs.filter(({ endedAtMs }) => endedAtMs === undefined)).toEqual([]);
      await until(
        () => ground.gpus.every(({ executions }) => executions.every(({ end }) => end !== undefined)),
        'no server executes anything',
      );
    });

    it('retries rows for which there was not enough memory as often as their kind allows', async () => {
      const retried = async (...flags: readonly string[]): Promise<readonly unknown[]> => {
        const { code, stdout } = await stage.runHere(['run', few, '-d', 'heavy', '--again', ...flags]);
        return [
          code,
          ...new Set(
            stage
              .results(stdout.trim())
              .map(({ outcome, attempts, reason }) => [outcome, attempts, reason].join()),
          ),
        ];
      };
      // Three rows that all fail alike would pause the batch.
      const few = stage.sheet(2, 'few.csv');
      const says = (attempts: number): RegExp => new RegExp(`^failed,${attempts},torch\\.OutOfMemoryError: `);
      expect(await retried('--retries', '3')).toEqual([3, expect.stringMatching(says(2))]);
      expect(await retried('--retry', 'out-of-memory=0')).toEqual([3, expect.stringMatching(says(1))]);
    });

    describe.runIf(executor === 'comfyui').concurrent('is not deceived', () => {
      const failures = (): number =>
        ground.gpus
          .flatMap(({ executions }) => executions)
          .filter(({ graph }) => graph['5']?.class_type === 'Fail').length;
      it('by a file that is no picture: its row waits for it, and has not succeeded', async () => {
        for (const gpu of ground.gpus)
          for (let nth = 0; nth < 3; nth++) gpu.answerNext('/view', { done: false, with: 200 });
        const run = stage.start(['run', stage.sheet(3, 'few.csv'), '-d', 'portraits', '--again']);
        expect(await run.says(/ succeeded=0 .*text instead of PNG"/)).toBeDefined();
        await run.kill();
      });

      it('by a workflow without its custom node, which is never retried and buys nothing', async () => {
        const before = failures();
        for (const { classes } of ground.gpus) classes.delete('Fail');
        const lacking = stage.sheet(3, 'lacking.csv');
        const ended = await stage.runHere(['run', lacking, '-d', 'heavy', '--again', '--retries', '3']);
        const says = 'failed validation: Cannot execute because node Fail does not exist.';
        expect(stage.results(ended.stdout.trim())).toMatchObject(
          [1, 2, 3].map(() => ({ outcome: 'failed', attempts: '1', reason: expect.stringContaining(says) })),
        );
        // Tests that run at the same time make batches here too.
        const batches = (): readonly string[] =>
          readdirSync(stage.path('batches')).filter((name) => name.startsWith('lacking'));
        const made = batches();
        const flags = ['--workflow', stage.path('heavy_api.json'), '--comfyui', ground.gpus[0]?.url ?? ''];
        const outcome = await stage.run(['run', lacking, ...flags], NOTHING_SET);
        expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('there is no node Fail')]);
        expect([batches(), failures()]).toEqual([made, before]);
      });
    });
  });
