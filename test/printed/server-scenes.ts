// The commands that the output of pools, schedules and servers suggests.

import { chmodSync } from 'node:fs';
import { until } from '../stage/stage.ts';
import type { Scene } from './scenes.ts';

const WORKER = { prints: /polls|takes tasks|ready|worker/ } as const;

export const POOLS: readonly Scene[] = [
  {
    name: 'there is no pool',
    args: ['pool', 'list'],
    prints: [/^ +create +runsheet pool set gpus --size 8/],
  },
  { name: 'there is a pool', args: ['pool', 'list'], prints: [/^ +show +runsheet pool show gpus/] },
  {
    name: 'a pool is free',
    args: ['pool', 'show', 'gpus'],
    prints: [/^ +use +runsheet run <sheet> -d <deployment> --pool gpus/],
  },
];

export const SCHEDULES: readonly Scene[] = [
  {
    name: 'there is no schedule',
    args: ['schedule', 'list'],
    prints: [/^ +create +runsheet schedule create nightly <sheet> -d <deployment> --cron/],
  },
  {
    name: 'there is a schedule',
    args: ['schedule', 'list'],
    prints: [/^ +show +runsheet schedule show nightly/],
  },
  {
    name: 'a schedule is shown',
    args: ['schedule', 'show', 'nightly'],
    prints: [/^ +now +runsheet schedule trigger nightly/],
  },
  {
    name: 'a schedule fires now',
    args: ['schedule', 'trigger', 'nightly'],
    prints: [/^ +(?:follow +runsheet follow|show +runsheet schedule show)/],
  },
  {
    name: 'the end of a span is missing',
    args: ['schedule', 'trigger', 'nightly', '--from', '2026-11-01'],
    prints: [/for example: runsheet schedule trigger nightly --from/],
    leads: [[/--from/, /./]],
  },
  {
    name: 'no time of the rule lies in a span',
    args: ['schedule', 'trigger', 'nightly', '--from', '2026-11-01T03:00', '--to', '2026-11-01T04:00'],
    prints: [/^ +show +runsheet schedule show nightly/],
  },
  {
    name: 'a schedule is paused',
    args: ['schedule', 'pause', 'nightly'],
    prints: [/^ +continue +runsheet schedule resume nightly/],
  },
  {
    name: 'a paused schedule is shown',
    arrange: (ground) => ground.must('schedule', 'pause', 'nightly'),
    args: ['schedule', 'show', 'nightly'],
    prints: [/^ +continue +runsheet schedule resume nightly/],
  },
  {
    name: 'a schedule goes on',
    args: ['schedule', 'resume', 'nightly'],
    prints: [/^ +show +runsheet schedule show nightly/],
  },
  {
    name: 'a folder of jobs is applied',
    arrange: (ground) => {
      ground.sheet('jobs/evening.csv', 'prompt\nevening\n');
      ground.stage.write(
        'jobs/evening.job.toml',
        'sheet = "evening.csv"\ndeployment = "Porträts"\n[schedule]\ncron = "0 3 * * *"\ntz = "UTC"\n',
      );
    },
    args: ['schedule', 'apply', 'jobs'],
    prints: [/^ +list +runsheet schedule list/],
  },
  {
    name: 'a schedule is removed',
    args: ['schedule', 'delete', 'nightly'],
    prints: [/^ +batches +runsheet list/],
  },
];

export const SERVERS: readonly Scene[] = [
  {
    name: 'doctor has nothing to complain about',
    args: ['doctor'],
    prints: [/^ +choose +runsheet deployments/],
  },
  {
    name: 'doctor is asked about a cluster that no setting names',
    args: ['doctor', '--cluster'],
    env: { TEMPORAL_ADDRESS: '' },
    prints: [/for the embedded servers: runsheet doctor/],
    leads: [[/doctor/, /./]],
  },
  {
    name: 'a worker keeps its batches elsewhere',
    args: ['doctor', '--cluster', '--out', 'other batches'],
    prints: [/RUNSHEET_OUT=\S.* runsheet worker/],
    leads: [
      [/worker/, WORKER],
      [/doctor/, /./],
    ],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'a worker whose batches are elsewhere takes the tasks of a batch',
    arrange: async (ground) => {
      await ground.running('astray');
      const shown = async () => (await ground.stage.run(['status', 'astray'])).stdout;
      await until(async () => /slots +3 of/.test(await shown()), 'it has runs');
      await ground.worker?.kill();
      await ground.stage.worker({ RUNSHEET_OUT: ground.stage.path('other batches') }).then((worker) => {
        ground.started.push(worker);
      });
      await until(async () => (await shown()).includes('fails its tasks'), 'status names the worker');
    },
    args: ['status', 'astray'],
    prints: [/^ +check +runsheet doctor --cluster/],
    leads: [[/doctor/, /other batches/]],
  },
  {
    name: 'the batch of such a worker is paused',
    args: ['follow', 'astray'],
    prints: [
      /give all workers the RUNSHEET_OUT of this batch; to see which has another one: runsheet doctor/,
    ],
    leads: [
      // While its worker is asked, it may be on its way to an end.
      [/doctor/, /other batches|members/],
      // The batch pauses again, or its worker takes no command.
      [/resume/, /./],
    ],
    undo: async (ground) => {
      await ground.killStarted();
      ground.worker = await ground.stage.worker();
      await ground.must('cancel', 'astray', '--running');
    },
  },
  {
    name: 'a program is to be notified that no worker may start',
    arrange: (ground) => {
      chmodSync(ground.stage.write('tell me.sh', '#!/bin/sh\nexec cat > /dev/null\n'), 0o755);
      ground.sheet('told.csv', 'prompt\ntold\n');
    },
    args: ['submit', 'told.csv', '-d', 'Porträts', '--notify', 'exec:tell me.sh'],
    prints: [/start a worker that may: RUNSHEET_NOTIFY_EXEC='\S.*tell me\.sh' runsheet worker/],
    leads: [[/worker/, WORKER]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'no worker takes the tasks of a batch',
    arrange: async (ground) => {
      await ground.running('alone');
      const shown = async () => (await ground.stage.run(['status', 'alone'])).stdout;
      await until(async () => /slots +[1-3] of/.test(await shown()), 'it has runs');
      await ground.worker?.kill();
      await until(async () => (await shown()).includes('no worker takes'), 'status says so');
    },
    args: ['status', 'alone'],
    prints: [/^ +start +runsheet worker/],
    leads: [[/worker/, WORKER]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'a batch is followed without a worker',
    args: ['follow', 'alone'],
    interruptAt: /start one: runsheet worker/,
    prints: [/; start one: runsheet worker/, /^ +follow +runsheet follow alone/],
    leads: [
      [/worker/, WORKER],
      [/follow/, { prints: /state=/ }],
    ],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'a batch is left before a worker has begun it',
    arrange: (ground) => ground.sheet('unborn.csv', 'prompt\nunborn\n'),
    args: ['run', 'unborn.csv', '-d', 'Porträts', '--name', 'unborn'],
    interruptAt: /does not advance/,
    prints: [/^ +start +runsheet worker/, /^ +stop +runsheet cancel unborn/],
    leads: [
      [/worker/, WORKER],
      [/follow/, 0],
      [/cancel/, /./],
    ],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'no process receives webhooks',
    arrange: async (ground) => {
      const bare = ground.stage.start(['worker', '--no-receiver']);
      ground.started.push(bare);
      await bare.says(/no receiver/);
    },
    args: ['doctor', '--cluster'],
    env: { RUNSHEET_WEBHOOK_URL: 'http://127.0.0.1:9', RUNSHEET_WEBHOOK_LISTEN: '127.0.0.1:0' },
    prints: [/start one: runsheet worker --receiver-only/],
    leads: [
      [/receiver-only/, { prints: /webhooks at/ }],
      // Nothing listens at that address yet.
      [/doctor/, /receivers/],
    ],
    undo: async (ground) => {
      await ground.killStarted();
      ground.worker = await ground.stage.worker();
      await ground.must('cancel', 'alone', '--running');
    },
  },
  {
    name: 'deployments are listed',
    args: ['deployments', 'Porträts'],
    prints: [/^ +run +runsheet run Portrats-template\.csv/],
    between: (ground) => ground.sheet('Portrats-template.csv', 'prompt\nprinted\n'),
  },
  {
    name: 'a project is checked for a migration',
    args: ['migrate-check', '-d', 'Porträts', '--no-run'],
    prints: [/^ +(?:plan +runsheet plan <sheet>|again +runsheet migrate-check)/],
    leads: [[/migrate-check/, /./]],
  },
];

/** With the embedded servers of each command. */
export const EMBEDDED: readonly Scene[] = [
  {
    name: 'there is no batch',
    args: ['list'],
    prints: [/^ +rehearse +runsheet run <sheet> -d portraits --local/],
  },
  {
    name: 'no run service is named',
    args: ['doctor'],
    prints: [/^ +rehearse +runsheet run <sheet> -d portraits --local/],
    leads: [[/doctor/, /./]],
  },
  {
    name: 'a local batch is interrupted',
    arrange: (ground) => ground.sheet('long.csv', `prompt\n${'a\nb\nc\nd\n'.repeat(40)}`),
    args: ['run', 'long.csv', '-d', 'portraits', '--local', '--name', 'long', '--no-unique', '-y'],
    interruptAt: /done=[1-9]/,
    prints: [/^ +continue +runsheet resume long/],
  },
  {
    name: 'a local batch is submitted',
    arrange: (ground) => ground.sheet('short.csv', 'prompt\nshort\n'),
    args: ['submit', 'short.csv', '-d', 'portraits', '--local', '--name', 'short'],
    prints: [/^ +continue +runsheet resume short/],
  },
  {
    name: 'the servers of a schedule end',
    arrange: (ground) => ground.sheet('noon.csv', 'prompt\nnoon\n'),
    args: ['schedule', 'create', 'noon', 'noon.csv', '-d', 'portraits', '--local', '--cron', '0 12 1 1 *'],
    prints: [/^ +servers +runsheet dev/, /^ +show +runsheet schedule show noon/],
    leads: [[/dev/, { prints: /service +http/ }]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'a schedule fires while its command runs',
    args: ['schedule', 'trigger', 'noon'],
    prints: [/`runsheet dev` keeps running/, /^ +status +runsheet status noon-/],
    leads: [[/dev/, { prints: /service +http/ }]],
    undo: (ground) => ground.killStarted(),
  },
  {
    name: 'the servers are kept running',
    args: ['dev'],
    interruptAt: /runsheet run <sheet>/,
    prints: [/^ +run +runsheet run <sheet> -d portraits --local/],
  },
  {
    name: 'a watched sheet is left',
    arrange: (ground) => ground.sheet('saves.csv', 'prompt\nsaved\n'),
    args: ['run', 'saves.csv', '-d', 'portraits', '--local', '--watch'],
    interruptAt: /waiting for the next save/,
    prints: [/^ +continue +runsheet run saves\.csv .*--watch/],
    leads: [[/--watch/, { prints: /waiting for the next save/ }]],
    undo: (ground) => ground.killStarted(),
  },
];
