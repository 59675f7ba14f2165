// The commands that the output suggests while servers run: each one is pasted in that state.

import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LongGround } from '../errors/long-ground.ts';
import { cancelled } from '../errors/running-batches.ts';
import type { Lead } from '../errors/provocation.ts';
import { POOLS, SCHEDULES, SERVERS } from './server-scenes.ts';

export type Scene = {
  /** The title of the test: the user's action. */
  readonly name: string;
  readonly arrange?: (ground: LongGround) => unknown;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Sent once the command has printed this. */
  readonly interruptAt?: RegExp;
  /** Lines that must be among the printed ones, by their labels or verbs. */
  readonly prints: readonly RegExp[];
  /** The user's action after each pasted command. */
  readonly between?: (ground: LongGround) => unknown;
  /** Where commands lead that do not simply work, by a part of the command. */
  readonly leads?: readonly (readonly [part: RegExp, lead: Lead])[];
  readonly undo?: (ground: LongGround) => unknown;
};

let sheets = 0;
/** A batch with a row that always fails. */
const SOME_FAIL = 3;

/** A sheet that no batch has. */
export const freshSheet = (ground: LongGround, rows = 2): string => {
  sheets += 1;
  const lines = Array.from({ length: rows }, (_, at) => `scene ${sheets}, row ${at}`);
  return ground.sheet(`scene-${sheets}.csv`, `prompt\n${lines.map((line) => `"${line}"`).join('\n')}\n`);
};

/** A copy of a batch as it is before anything has started it. */
function unstarted({ stage }: LongGround, from: string, name: string): void {
  const [old, folder] = [stage.path('batches', from), stage.path('batches', name)];
  cpSync(join(old, 'layout'), join(folder, 'layout'), { recursive: true });
  const file = JSON.parse(readFileSync(join(old, 'batch.json'), 'utf8')) as object;
  const own = { batch: name, mark: randomBytes(8).toString('hex') };
  writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...file, ...own }));
}

const failing = (name: string) => (ground: LongGround) =>
  ground.sheet(`${name}.csv`, `prompt,runsheet_faults\n${name} 1,fail\n${name} 2,\n`);

const on = (name: string, ...flags: readonly string[]): readonly string[] => [
  `${name}.csv`,
  '-d',
  'Porträts',
  '--name',
  name,
  ...flags,
];

const BATCHES: readonly Scene[] = [
  {
    name: 'a job file is written',
    arrange: (ground) => ground.sheet('night.csv', 'prompt\nnight\n'),
    args: ['plan', 'night.csv', '-d', 'Porträts', '--write', 'night.job.toml'],
    prints: [/^ +run +runsheet run night\.job\.toml/],
  },
  {
    name: 'a batch ends with failures',
    arrange: failing('bad'),
    args: ['run', ...on('bad', '--retries', '0')],
    prints: [/^ +again +runsheet retry/, /^ +open +runsheet open/, /^ +export +runsheet export/],
    leads: [[/retry/, SOME_FAIL]],
  },
  {
    name: 'a failed row is shown',
    args: ['show', 'bad', '1'],
    prints: [/^ +again +runsheet retry bad --row 1/, /^ +log +runsheet logs/],
    leads: [[/retry/, SOME_FAIL]],
  },
  {
    name: 'the sheet of an ended batch is given again',
    args: ['run', ...on('bad', '--retries', '0')],
    prints: [/^ +new +runsheet run .*--again/],
    leads: [[/--again|retry/, SOME_FAIL]],
  },
  {
    name: 'a sheet is planned into a batch',
    arrange: (ground) => ground.sheet('more.csv', 'prompt,runsheet_faults\nbad 1,fail\nbad 3,\n'),
    args: ['plan', 'more.csv', '--into', 'bad'],
    prints: [/to send them again as they are: runsheet retry bad/, /^ +run +runsheet run/],
    leads: [[/retry|run/, SOME_FAIL]],
  },
  {
    name: 'a batch is submitted',
    arrange: (ground) => ground.sheet('sub.csv', 'prompt\nsub 1\nsub 2\n'),
    args: ['submit', ...on('sub')],
    prints: [/^ +follow +runsheet follow sub/],
  },
  {
    name: 'a running batch is left',
    arrange: (ground) => ground.sheet('left.csv', 'prompt\nleft 1\nleft 2\n'),
    args: ['run', 'left.csv', '-d', 'slow', '--name', 'left'],
    interruptAt: /outstanding=[1-9]/,
    prints: [/^ +follow +runsheet follow left/, /^ +stop +runsheet cancel left/],
    leads: [[/follow/, { prints: /state=/ }]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'a batch is paused by its user',
    arrange: (ground) => ground.running('rest', 'brief'),
    args: ['pause', 'rest'],
    prints: [/^ +continue +runsheet resume rest/],
  },
  {
    name: 'no limit is given',
    arrange: (ground) => ground.running('scaled'),
    args: ['scale', 'scaled'],
    prints: [/for example: runsheet scale scaled -c 20/],
  },
  {
    name: 'a row of a running batch is shown',
    args: ['show', 'scaled', '1'],
    prints: [/^ +status +runsheet status scaled/],
    undo: cancelled('scaled'),
  },
  {
    name: 'a word may be a batch or a row',
    arrange: async (ground) => {
      await ground.ended('7');
    },
    args: ['show', '7'],
    prints: [/such as its first: runsheet show 7 1/, /the row of the newest batch: runsheet show \S+ 7/],
    // The newest batch has three rows.
    leads: [[/ 7$/, 'E505']],
  },
  {
    name: 'the files of a batch are missing',
    arrange: async (ground) => {
      await ground.ended('torn');
      rmSync(ground.stage.path('batches', 'torn', 'outputs'), { recursive: true });
    },
    args: ['export', 'torn', '--as', 'zip'],
    prints: [/runsheet verify torn/],
    leads: [[/verify/, /missing|damaged/]],
  },
  {
    name: 'rows of a running batch are sent again',
    arrange: (ground) => ground.running('early'),
    args: ['retry', 'early'],
    prints: [/runsheet/],
    undo: cancelled('early'),
  },
];

const REFUSED: readonly Scene[] = [
  {
    name: 'a batch is compared with itself',
    args: ['compare', 'sub', 'sub'],
    prints: [/to list them: runsheet list/],
  },
  {
    name: 'there is neither a sheet nor a batch',
    args: ['run', '-d', 'Porträts'],
    prints: [/see: runsheet run --help/],
  },
  {
    name: 'a local service is asked for on a cluster',
    args: ['plan', 'sub.csv', '-d', 'Porträts', '--local'],
    prints: [/start the local run service with: runsheet service; then set RUNSHEET_API_URL/],
    leads: [[/service/, { prints: /RUNSHEET_API_URL=/ }]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'the local service is asked to speak V1',
    args: ['plan', 'sub.csv', '-d', 'Porträts', '--local', '--api', 'v1'],
    prints: [/start a local V1 service with: runsheet service --only v1/],
    leads: [[/service/, { prints: /RUNSHEET_API_URL=/ }]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'an export is sent to S3',
    arrange: (ground) => chmodSync(ground.stage.write('bin/aws', '#!/bin/sh\nexec cat > /dev/null\n'), 0o755),
    args: ['export', 'sub', '--as', 'csv', '--file', 's3://bucket/sub.csv'],
    prints: [/runsheet export sub --as csv --file - \| aws s3 cp - s3:\/\/bucket\/sub\.csv/],
  },
  {
    name: 'rows are added to a batch that was never started',
    arrange: async (ground) => {
      await ground.ended('seed');
      unstarted(ground, 'seed', 'idle');
    },
    args: ['run', 'sub.csv', '--into', 'idle'],
    prints: [/start it, then repeat the command: runsheet resume idle/],
  },
  {
    name: 'rows are added to a batch with a ladder',
    arrange: (ground) =>
      ground.must(
        'run',
        ground.sheet('rungs.csv', 'prompt\nrung\n'),
        '-d',
        'Porträts',
        '--name',
        'rungs',
        '--ladder',
        'A10G,H100',
      ),
    args: ['run', 'sub.csv', '--into', 'rungs'],
    prints: [/send its rows again with: runsheet retry rungs/],
  },
];

const JOB = (stage: string): string =>
  `name = "posters"\n\n[[stage]]\nname = "drafts"\nfrom = "posters.csv"\n${stage}\n\n[[stage]]\nname = "finals"\nfrom = "drafts"\npick = true\ndeployment = "Porträts"\nset = { seed = 40 }\n`;

const PIPELINES: readonly Scene[] = [
  {
    name: 'a stage has no deployment',
    arrange: (ground) => {
      ground.sheet('posters.csv', 'prompt\nposter 1\nposter 2\n');
      ground.stage.write('posters.job.toml', JOB(''));
    },
    args: ['plan', 'posters.job.toml'],
    prints: [/list them: runsheet deployments/],
  },
  {
    name: 'a program asks for the plan of a pipeline',
    arrange: (ground) => ground.stage.write('posters.job.toml', JOB('deployment = "Porträts"')),
    args: ['plan', 'posters.job.toml', '-o', 'json'],
    prints: [/for scripts: runsheet pipeline show -o json/],
    // No pipeline runs yet.
    leads: [[/show/, /E5\d\d/]],
  },
  {
    name: 'a pipeline is submitted and waits for picks',
    args: ['submit', 'posters.job.toml'],
    prints: [/^ +follow +runsheet run posters\.job\.toml/],
    leads: [[/run/, 8]],
  },
  {
    name: 'a pipeline that waits is shown',
    arrange: (ground) => ground.sheet('picks.csv', 'row\n1\n'),
    args: ['pipeline', 'show', 'posters'],
    prints: [/runsheet pick posters finals --picks picks\.csv/],
  },
  {
    name: 'a pipeline runs with other stages',
    arrange: async (ground) => {
      const job = JOB('deployment = "Porträts"').replaceAll('posters', 'cards');
      ground.sheet('cards.csv', 'prompt\ncard 1\ncard 2\n');
      ground.stage.write('cards.job.toml', job);
      await ground.must('submit', 'cards.job.toml');
      ground.stage.write('cards.job.toml', job.replaceAll('"finals"', '"prints"'));
    },
    args: ['submit', 'cards.job.toml'],
    prints: [/then give this command again: runsheet pipeline cancel cards/],
  },
];

export const SCENES: readonly Scene[] = [
  ...BATCHES,
  ...REFUSED,
  ...PIPELINES,
  ...POOLS,
  ...SCHEDULES,
  ...SERVERS,
];
