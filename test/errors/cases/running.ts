// Errors of batches that run, wait, have ended, or that Temporal no longer has.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { connectClient } from '../../../src/temporal/connect.ts';
import { workflowIdOf } from '../../../src/batch/workflow-ids.ts';
import type { Client } from '@temporalio/client';
import { until } from '../../stage/stage.ts';
import { ROWS, type LongGround } from '../long-ground.ts';
import type { Provocation } from '../provocation.ts';

type Case = Provocation<LongGround>;
const WORKER = { prints: /webhooks at|no receiver/ };

async function inTemporal<T>(
  { stage }: LongGround,
  use: (client: Client, namespace: string) => Promise<T>,
): Promise<T> {
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
  try {
    return await use(client, namespace);
  } finally {
    await close();
  }
}

const terminate = (ground: LongGround, name: string): Promise<unknown> =>
  inTemporal(ground, (client) =>
    client.workflow.getHandle(workflowIdOf(ground.batchFile(name))).terminate('the test'),
  );

async function forget(ground: LongGround, name: string): Promise<void> {
  const workflowId = workflowIdOf(ground.batchFile(name));
  await inTemporal(ground, async (client, namespace) => {
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    const isGone = (): Promise<boolean> =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => false,
          () => true,
        );
    await until(isGone, 'Temporal has forgotten it');
  });
}

/** It has runs, so nothing of it may be bought again. */
const underWay = async (ground: LongGround, name: string): Promise<void> => {
  await ground.running(name);
  await until(
    async () => (await ground.stage.run(['status', name])).stdout.includes('running'),
    'it is under way',
  );
};

const cancelled = (name: string) => (ground: LongGround) => ground.must('cancel', name, '--running', '-y');

const WAITING: readonly Case[] = [
  {
    code: 'E501',
    name: 'a batch is paused',
    arrange: async (ground) => {
      await ground.running('held', 'brief');
      await ground.must('pause', 'held');
    },
    args: ['watch', 'held'],
    leads: [0],
  },
  {
    code: 'E512',
    name: 'no worker takes a command',
    arrange: async (ground) => {
      await underWay(ground, 'left');
      await ground.killWorker();
    },
    args: ['pause', 'left'],
    leads: [WORKER],
    undo: async (ground) => {
      await ground.killStarted();
      await ground.startWorker();
      await ground.must('cancel', 'left', '--running', '-y');
    },
  },
  {
    code: 'E517',
    name: 'a batch has no room for so many runs',
    arrange: (ground) => ground.running('full'),
    args: ['scale', 'full', '-c', '3000', '--retries', '20'],
    leads: [0],
  },
  {
    code: 'E518',
    name: 'a batch does not confirm a command in time',
    args: ['pause', 'full', '--timeout', '1ms'],
    leads: [0],
  },
  {
    code: 'E521',
    name: 'a batch does not end in time',
    args: ['wait', 'full', '--timeout', '100ms'],
    leads: [0],
    undo: cancelled('full'),
  },
  {
    code: 'E509',
    name: 'a batch has not ended',
    arrange: (ground) => ground.running('soon', 'brief'),
    args: ['verify', 'soon'],
    leads: [0, 0],
  },
  {
    code: 'E551',
    name: 'the other batch has not ended',
    arrange: (ground) => ground.running('source', 'brief'),
    args: ['plan', '--from', 'source', '-d', 'Porträts'],
    leads: [0, 0],
  },
];

const GONE: readonly Case[] = [
  {
    code: 'E503',
    name: 'Temporal has forgotten a batch',
    arrange: async (ground) => {
      await underWay(ground, 'forgotten');
      await ground.must('cancel', 'forgotten', '--running', '-y');
      await forget(ground, 'forgotten');
      ground.stage.write('batches/forgotten/summary.json', '');
    },
    args: ['resume', 'forgotten'],
    leads: ['E511'],
  },
  {
    code: 'E508',
    name: 'the workflow of a batch was terminated',
    arrange: async (ground) => {
      await underWay(ground, 'terminated');
      await terminate(ground, 'terminated');
    },
    args: ['resume', 'terminated'],
    leads: ['E511'],
  },
  {
    code: 'E511',
    name: 'requests of a terminated batch may still start runs',
    args: ['resume', 'terminated', '--recover'],
    leads: [],
    says: /repeat the same command in \d+ s/,
  },
  {
    code: 'E513',
    name: 'a command comes too late',
    args: ['scale', 'terminated', '-c', '3'],
    leads: [0],
  },
  {
    code: 'E506',
    name: 'the workflow is terminated while it is watched',
    arrange: async (ground) => {
      await underWay(ground, 'watched');
      setTimeout(() => void terminate(ground, 'watched'), 3_000);
    },
    args: ['watch', 'watched'],
    leads: [0],
  },
  {
    code: 'E507',
    name: 'a copy of the folder is named',
    arrange: async (ground) => {
      await ground.running('twofold');
      cpSync(ground.stage.path('batches'), ground.stage.path('my $copy'), { recursive: true });
    },
    args: ['wait', 'twofold', '--timeout', '1s', '--out', 'my $copy'],
    leads: ['E521'],
    undo: cancelled('twofold'),
  },
  {
    code: 'E516',
    name: 'a batch was never started',
    arrange: async (ground) => {
      ground.sheet('never.csv', 'prompt\nnever\n');
      const away = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
      await ground.stage.run(['submit', 'never.csv', '-d', 'Porträts', '--name', 'never'], away);
      await ground.stage.run(['submit', 'never.csv', '-d', 'Porträts', '--name', 'never']);
    },
    args: ['watch', 'never'],
    leads: [0],
  },
];

const AGAIN: readonly Case[] = [
  {
    code: 'E520',
    name: 'a receipt was changed',
    arrange: async (ground) => {
      await ground.ended('bought');
      await ground.must('verify', 'bought', '--receipt');
      const path = ground.stage.path('batches', 'bought', 'receipt.jsonl');
      writeFileSync(path, readFileSync(path, 'utf8').replace('"row":2', '"row":3'));
    },
    args: ['verify', '--check-receipt', 'batches/bought/receipt.jsonl'],
    leads: [0],
    mend: () => undefined,
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
    code: 'E314',
    name: 'the service may ignore the GPU of a row',
    arrange: (ground) => ground.sheet('gpus of "me".csv', 'prompt,gpu\ngpu,H100\n'),
    args: ['run', 'gpus of "me".csv', '-d', 'Porträts'],
    leads: [0],
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
    code: 'E607',
    name: 'the output is sent to a full disk',
    args: ['bash', 'runsheet list > /dev/full'],
    leads: [],
    says: /the disk of the output is full[^]*free disk space/,
  },
];

export const RUNNING: readonly Case[] = [...WAITING, ...GONE, ...AGAIN];
