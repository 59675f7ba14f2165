// Errors of batches that run, wait, have ended, or that Temporal no longer has.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { connectClient } from '../../../src/temporal/connect.ts';
import { workflowIdOf } from '../../../src/batch/workflow-ids.ts';
import type { Client } from '@temporalio/client';
import { pathToFileURL } from 'node:url';
import { connect, type Runsheet } from '../../../src/index.ts';
import { KEY, until } from '../../stage/stage.ts';
import { openRealService } from '../other-services.ts';
import { BRIEF_ID, ROWS, type LongGround } from '../long-ground.ts';
import type { Provocation } from '../provocation.ts';

type Case = Provocation<LongGround>;

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

const cancelled = (name: string) => (ground: LongGround) => ground.must('cancel', name, '--running');

const v1 = (base = '') => ({ RUNSHEET_API_URL: `${new URL(base).origin}/v1/api`, RUNSHEET_API: 'v1' });

async function inLibrary<T>(ground: LongGround, use: (runsheet: Runsheet) => Promise<T>): Promise<T> {
  const { stage } = ground;
  const { RUNSHEET_API_URL: base = '', RUNSHEET_API_KEY: key = '' } = stage.environment;
  return inTemporal(ground, async (client) => {
    await using runsheet = await connect({
      client,
      store: stage.path('batches'),
      home: stage.path('home'),
      service: { url: base, apiKey: key },
    });
    return await use(runsheet);
  });
}

const WAITING: readonly Case[] = [
  {
    code: 'E501',
    name: 'a batch is paused',
    arrange: async (ground) => {
      await ground.running('held', 'brief', '-c', '1');
      await ground.must('pause', 'held');
    },
    args: ['watch', 'held'],
    leads: [0],
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
    throws: (ground) =>
      inLibrary(ground, (runsheet) => runsheet.getHandle('full').result({ timeoutMs: 200 })),
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
      await forget(ground, 'forgotten');
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
    leads: [0],
    says: /so repeat the same command then/,
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
    leads: [7],
    undo: cancelled('twofold'),
  },
  {
    code: 'E515',
    name: 'the workflow of a batch was reset',
    arrange: async (ground) => {
      await underWay(ground, 'reset');
      const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = ground.stage.environment;
      const reset = `temporal workflow reset --address ${address} -n ${namespace} --type FirstWorkflowTask --reason test`;
      const text = `${reset} -w ${workflowIdOf(ground.batchFile('reset'))}`;
      setTimeout(() => void ground.run().run(['bash', text], {}), 2_000);
    },
    args: ['watch', 'reset'],
    leads: ['E511'],
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
    code: 'E513',
    name: 'a program gives a command to a batch that has ended',
    throws: (ground) => inLibrary(ground, (runsheet) => runsheet.getHandle('bought').pause()),
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
    leads: [],
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
    leads: [],
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
