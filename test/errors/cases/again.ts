// Errors of rows that were bought before, of programs that use the library, and of schedules.

import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { pathToFileURL } from 'node:url';
import { giveOtherId } from '../../console/ended-batch.ts';
import { KEY } from '../../stage/stage.ts';
import { BRIEF_ID, ROWS, type LongGround } from '../long-ground.ts';
import { STARTED_FILE } from '../../../src/store/started.ts';
import { openRealService } from '../../stage/other-service.ts';
import { inLibrary, v1 } from '../running-batches.ts';
import type { Provocation } from '../provocation.ts';

/** Copies a batch as if somebody else had made it and never started it. */
function bringAsForeign(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  rmSync(join(to, STARTED_FILE), { force: true });
  const file = join(to, 'batch.json');
  const batch = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...batch, mark: randomBytes(8).toString('hex') }));
}

export const AGAIN: readonly Provocation<LongGround>[] = [
  {
    code: 'E513',
    name: 'a program gives a command to a batch that has ended',
    arrange: async (ground) => {
      await ground.ended('bought');
    },
    throws: (ground) => inLibrary(ground, (runsheet) => runsheet.getHandle('bought').pause()),
    leads: [0],
  },
  {
    code: 'E549',
    name: 'a script sends rows again that have succeeded',
    arrange: async (ground) => {
      await ground.ended('liked');
    },
    args: ['retry', 'liked', '--outcome', 'succeeded'],
    leads: [0],
  },
  {
    code: 'E538',
    name: 'a program starts rows that a batch has done',
    throws: (ground) =>
      inLibrary(ground, (runsheet) =>
        runsheet.start(pathToFileURL(ground.stage.path('bought of "today".csv')), {
          deployment: 'Porträts',
          key: 'sku',
        }),
      ),
    says: /to read its results: getHandle\('bought'\)/,
  },
  {
    code: 'E554',
    name: 'the addresses of the outputs expire',
    arrange: async (ground) => {
      ground.sheet('private.csv', 'prompt,runsheet_faults\nprivate,private-file\n');
      await ground.must('run', 'private.csv', '-d', 'Porträts', '--name', 'private');
    },
    args: ['submit', '--from', 'private', '-d', BRIEF_ID, '--map', 'image=output'],
    env: ({ stage }) => v1(stage.environment['RUNSHEET_API_URL']),
    leads: [0],
  },
  {
    code: 'E555',
    name: 'another service made the outputs, and this one takes no files',
    arrange: async (ground) => {
      const args = ['service', '--only', 'v1', '--port', '0'];
      const running = ground.stage.start(args, { RUNSHEET_SERVICE_TOKEN: KEY });
      ground.started.push(running);
      [, ground.otherBase = ''] = await running.says(/RUNSHEET_API_URL=(\S+)/);
    },
    args: ['submit', '--from', 'private', '-d', BRIEF_ID, '--map', 'image=output'],
    env: ({ otherBase }) => ({ RUNSHEET_API_URL: otherBase, RUNSHEET_API: 'v1' }),
    says: /copy the files to a place that the run service can read/,
  },
  {
    code: 'E530',
    name: 'an earlier batch has these rows',
    arrange: (ground) => ground.sheet('more "rows".csv', `${ROWS.replaceAll('a', 'bought a')}D,another\n`),
    args: ['submit', 'more "rows".csv', '-d', 'Porträts', '--key', 'sku'],
    leads: [0, 0],
  },
  {
    code: 'E531',
    name: 'an earlier batch may still send the rows',
    arrange: async (ground) => {
      await ground.running('first', 'brief');
      ground.sheet('second.csv', 'prompt\nfirst 1\nfirst 2\nlast\n');
    },
    args: ['run', 'second.csv', '-d', 'brief'],
    leads: [0, 0, 0, 0],
  },
  {
    code: 'E546',
    name: 'the rows were paid for, and their files were not delivered',
    arrange: async (ground) => {
      ground.sheet('lost.csv', 'prompt\na lost one\n');
      ground.sheet('found again.csv', 'prompt\na lost one\na found one\n');
      await ground.stage.setFaults({ 'lose-file': 1 });
      await ground.must('submit', 'lost.csv', '-d', 'Porträts', '--name', 'lost');
      await vi.waitFor(
        async () => expect((await ground.stage.run(['status', 'lost'])).stdout).toContain('404'),
        { timeout: 60_000, interval: 500 },
      );
      // A cancelled batch does not wait for its files.
      await ground.must('cancel', 'lost');
      await ground.stage.run(['wait', 'lost']);
      await ground.stage.setFaults({ 'lose-file': 0 });
    },
    args: ['submit', 'found again.csv', '-d', 'Porträts'],
    leads: [0, 0, 0],
  },
  {
    code: 'E558',
    name: 'the rows are done, with another address of a file',
    arrange: async (ground) => {
      ground.sheet('export 1.csv', 'sku,prompt\nfox,https://cdn.example/fox.png?v=1\n');
      ground.sheet('export 2.csv', 'sku,prompt\nfox,https://cdn.example/fox.png?v=2\n');
      await ground.must('run', 'export 1.csv', '-d', 'Porträts', '--key', 'sku');
    },
    args: ['submit', 'export 2.csv', '-d', 'Porträts', '--key', 'sku', '--reuse'],
    leads: [0, 0],
  },
  {
    code: 'E547',
    name: 'the limit of the cost is below what one run may cost',
    arrange: (ground) => ground.sheet('my limit.csv', 'prompt\na dear one\n'),
    args: ['submit', 'my limit.csv', '-d', 'Porträts', '--max-cost', '0.01'],
    leads: [0],
  },
  {
    code: 'E534',
    name: 'the sheet has the failures of a batch',
    arrange: async (ground) => {
      ground.sheet('failing.csv', 'prompt,runsheet_faults\na,fail\nb,\n');
      await ground.stage.run(['run', 'failing.csv', '-d', 'Porträts', '--name', 'failing', '--retries', '0']);
      const path = ground.stage.path('batches', 'failing', 'failures.csv');
      writeFileSync(ground.stage.path('my failures.csv'), readFileSync(path, 'utf8').replace(',fail,', ',,'));
    },
    args: ['run', 'my failures.csv', '-d', 'Porträts'],
    leads: [0, 0],
  },
  {
    code: 'E111',
    name: 'a column is guessed',
    arrange: (ground) => ground.sheet('my "guess".csv', 'Promt,sku\na $HOME,1\n'),
    args: ['run', 'my "guess".csv', '-d', 'Porträts'],
    leads: [0],
  },
  {
    code: 'E111',
    name: 'a schedule reads a column with a guess',
    arrange: (ground) => ground.sheet('my night.csv', 'Promt,sku\na $HOME,1\n'),
    args: ['schedule', 'create', 'guessed', 'my night.csv', '-d', 'Porträts', '--cron', '0 2 29 2 *'],
    leads: [0],
    undo: (ground) => ground.must('schedule', 'delete', 'guessed'),
  },
  {
    code: 'E111',
    name: 'a job file reads a column with a guess, and is answered in the file',
    arrange: (ground) => {
      ground.sheet('jobs/my night.csv', 'Promt,sku\na $HOME,1\n');
      ground.sheet(
        'jobs/guessed.job.toml',
        'sheet = "my night.csv"\ndeployment = "Porträts"\n[schedule]\ncron = "0 2 29 2 *"\n',
      );
    },
    args: ['schedule', 'apply', 'jobs'],
    says: /if they are right: add above \[schedule\] in jobs\/guessed\.job\.toml:\n +map = \{ prompt = "Promt" \}/,
  },
  {
    code: 'E120',
    name: 'the sheet of a job file names a hidden file',
    arrange: (ground) => {
      ground.sheet('jobs/.my key', 'a key');
      ground.sheet('jobs/pictures.csv', 'prompt\n.my key\n');
      ground.sheet(
        'jobs/pictures.job.toml',
        'sheet = "pictures.csv"\ndeployment = "Porträts"\ntype = { prompt = "file" }\n[schedule]\ncron = "0 2 29 2 *"\n',
      );
    },
    args: ['schedule', 'apply', 'jobs/pictures.job.toml'],
    leads: [0],
    undo: (ground) => ground.must('schedule', 'delete', 'pictures'),
  },
  {
    code: 'E202',
    name: 'a row of the sheet of a job file is refused, which is left out in the file',
    arrange: (ground) => {
      ground.sheet('jobs/typed.csv', 'prompt,seed\na,1\nb,x\nc,3\nd,4\n');
      ground.sheet(
        'jobs/typed.job.toml',
        'sheet = "typed.csv"\ndeployment = "Porträts"\n[schedule]\ncron = "0 2 29 2 *"\n',
      );
    },
    args: ['schedule', 'apply', 'jobs/typed.job.toml'],
    says: /name these as refused: invalid = "skip"; see jobs\/typed\.job\.toml, above \[schedule\]\n$/,
  },
  {
    code: 'E314',
    name: 'the service may ignore the GPU of a row',
    arrange: async (ground) => {
      ground.sheet('gpus of "me".csv', 'prompt,gpu\ngpu,H100\n');
      ground.real = await openRealService(ground.stage.environment['RUNSHEET_API_URL'] ?? '');
    },
    args: ['submit', 'gpus of "me".csv', '-d', 'Porträts'],
    env: ({ real }) => ({ RUNSHEET_API_URL: real?.base ?? '' }),
    leads: [0],
    undo: ({ real }) => real?.close(),
  },
  {
    code: 'E539',
    name: 'a batch in another folder has the rows',
    arrange: async (ground) => {
      ground.sheet('here and "there".csv', 'prompt\nelsewhere\n');
      ground.real = await openRealService(ground.stage.environment['RUNSHEET_API_URL'] ?? '');
      const args = ['submit', 'here and "there".csv', '-d', 'Porträts', '--out', ground.stage.path('there')];
      await ground.stage.run(args, { RUNSHEET_API_URL: ground.real.base });
    },
    args: ['submit', 'here and "there".csv', '-d', 'Porträts'],
    env: ({ real }) => ({ RUNSHEET_API_URL: real?.base ?? '' }),
    // The batch there has failed on this ground: the command leads to E508, which names the cure.
    leads: [5, 0],
    undo: ({ real }) => real?.close(),
  },
  {
    code: 'E606',
    name: 'the batch of a sheet came with its folder',
    arrange: async (ground) => {
      ground.sheet('came with "it".csv', 'prompt\ncame\n');
      ground.real = await openRealService(ground.stage.environment['RUNSHEET_API_URL'] ?? '');
      const args = ['submit', 'came with "it".csv', '-d', 'Porträts', '--name', 'came'];
      const otherHome = ground.stage.path('another home');
      await ground.stage.run([...args, '--out', otherHome], { RUNSHEET_API_URL: ground.real.base });
      bringAsForeign(join(otherHome, 'came'), ground.stage.path('batches', 'came'));
    },
    args: ['submit', 'came with "it".csv', '-d', 'Porträts', '--name', 'came'],
    env: ({ real }) => ({ RUNSHEET_API_URL: real?.base ?? '' }),
    leads: [0],
    undo: async ({ real, stage }) => {
      await real?.close();
      rmSync(stage.path('batches', 'came'), { recursive: true });
    },
  },
  {
    code: 'E545',
    name: 'a batch has the sheet with an earlier version of the deployment',
    arrange: async (ground) => {
      await ground.must(
        'run',
        ground.sheet('new "me".csv', 'prompt\nchanged\n'),
        '-d',
        'Porträts',
        '--name',
        'changed',
      );
      giveOtherId(ground.stage.path('batches', 'changed', 'batch.json'));
    },
    args: ['submit', 'new "me".csv', '-d', 'Porträts'],
    leads: [0, 0],
  },
  {
    code: 'E563',
    name: 'a job file differs from its schedule',
    arrange: async (ground) => {
      ground.sheet('jobs of mine/every night.csv');
      const job = (cron: string): string =>
        ground.sheet(
          'jobs of mine/weekly.job.toml',
          `sheet = "every night.csv"\ndeployment = "Porträts"\n[schedule]\ncron = "${cron}"\n`,
        );
      job('0 2 29 2 *');
      await ground.must('schedule', 'apply', 'jobs of mine');
      job('0 3 29 2 *');
    },
    args: ['schedule', 'apply', 'jobs of mine'],
    leads: [0],
    undo: (ground) => ground.must('schedule', 'delete', 'weekly'),
  },
  {
    code: 'E562',
    name: 'a schedule has other settings',
    arrange: (ground) =>
      ground.must(
        'schedule',
        'create',
        'nightly',
        ground.sheet('my night.csv'),
        '-d',
        'Porträts',
        '--cron',
        '0 2 * * *',
      ),
    args: ['schedule', 'create', 'nightly', 'my night.csv', '-d', 'Porträts', '--cron', '0 3 * * *'],
    leads: [0],
  },
  { code: 'E560', name: 'a schedule is misspelt', args: ['schedule', 'show', 'nigthly'], leads: [0] },
  {
    code: 'E560',
    name: 'there is no schedule',
    arrange: (ground) => ground.must('schedule', 'delete', 'nightly'),
    args: ['schedule', 'show', 'weekly'],
    leads: [0],
  },
  {
    code: 'E566',
    name: 'a stage of a pipeline was made with other settings',
    arrange: async (ground) => {
      ground.sheet('motifs.csv');
      const job = (more: string): string =>
        ground.sheet(
          'my poster.job.toml',
          `name = "poster"\n[[stage]]\nname = "drafts"\nfrom = "motifs.csv"\ndeployment = "Porträts"\nagain = true\n${more}`,
        );
      job('');
      await ground.must('run', 'my poster.job.toml');
      job('gpu = "L4"\n');
    },
    args: ['run', 'my poster.job.toml'],
    says: /made with other settings: gpu none → "L4"/,
  },
  { code: 'E565', name: 'a pipeline is misspelt', args: ['pipeline', 'show', 'psoter'], leads: [0] },
  {
    code: 'E607',
    name: 'the output is sent to a full disk',
    args: ['bash', 'runsheet list > /dev/full'],
    says: /the disk of the output is full[^]*free disk space/,
  },
];
