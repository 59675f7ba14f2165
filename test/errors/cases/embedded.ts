// Errors of the embedded servers, of their disk, and of the local run service as a command.

import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import { readRecord, writeRecord } from '../../../src/temporal/embedded/stack-file.ts';
import { KEY, until } from '../../stage/stage.ts';
import { ROWS, type LongGround } from '../long-ground.ts';
import type { Provocation } from '../provocation.ts';
import { freePort } from '../../stage/free-port.ts';

const DEV = { prints: /service +http/ };
const SMALL = 'small disk';

const call = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

/** A disk of its own wants the right to mount one, which a container or a user may lack. */
export function mountDisk({ stage }: LongGround): boolean {
  const path = stage.path(SMALL);
  mkdirSync(path);
  return call('mount', '-t', 'tmpfs', '-o', 'size=40m,mode=700', 'tmpfs', path);
}

export const unmountDisk = ({ stage }: LongGround): boolean => call('umount', '--lazy', stage.path(SMALL));

/** Leaves so many bytes. */
function fillDisk({ stage }: LongGround, left: number): void {
  const { bavail, bsize } = statfsSync(stage.path(SMALL));
  writeFileSync(stage.path(SMALL, 'ballast'), Buffer.alloc(bavail * bsize - left));
}

const freeDisk = ({ stage }: LongGround): void => rmSync(stage.path(SMALL, 'ballast'));

/** Queues runs at the service on this port until it has come and gone. */
async function queueMany(port: number): Promise<void> {
  const base = `http://127.0.0.1:${port}/api`;
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const isThere = (): Promise<boolean> => fetch(base).then(Boolean, () => false);
  await until(isThere, 'the service listens');
  const deployments = (await (await fetch(`${base}/deployments`, { headers })).json()) as { id: string }[];
  const body = JSON.stringify({ deployment_id: deployments[1]?.id, inputs: { text: 'x'.repeat(10_000) } });
  while (await isThere())
    await fetch(`${base}/run/deployment/queue`, { method: 'POST', headers, body }).catch(() => undefined);
}

/** No Temporal program is found, and none can be downloaded. */
const nothingFound = ({ stage }: LongGround) => ({
  PATH: stage.path('bin'),
  XDG_CACHE_HOME: stage.path('no cache'),
  RUNSHEET_HOME: stage.path('no home'),
  HOME: stage.path('no home'),
});

/** Only the user can prevent it, so no other command follows. */
const FULL: readonly Provocation<LongGround>[] = [
  {
    code: 'E607',
    name: 'the disk of the batches is full',
    arrange: (ground) => {
      ground.sheet('any.csv');
      fillDisk(ground, 0);
    },
    args: ['plan', 'any.csv', '-d', 'portraits', '--local', '--out', `${SMALL}/batches`],
    says: /nothing is lost: free disk space, or name a folder on another disk/,
    mend: freeDisk,
  },
  {
    code: 'E604',
    name: 'the disk of the state folder is full',
    arrange: (ground) => fillDisk(ground, 2 ** 20),
    args: ['plan', 'any.csv', '-d', 'portraits', '--local'],
    env: { RUNSHEET_HOME: SMALL },
    says: /nothing is lost: free disk space, then repeat the same command/,
    mend: freeDisk,
  },
];

export const diskCases = (hasDisk: boolean): readonly Provocation<LongGround>[] => (hasDisk ? FULL : []);

export const EMBEDDED: readonly Provocation<LongGround>[] = [
  {
    code: 'E544',
    name: 'the servers are not running',
    args: ['pool', 'list'],
    leads: [DEV],
    mend: () => undefined,
    undo: (ground) => ground.killStarted(),
  },
  {
    code: 'E405',
    name: 'there is no Temporal program',
    args: ['dev'],
    env: nothingFound,
    says: /install the temporal command \(1\.9 or newer\), or set TEMPORAL_ADDRESS/,
  },
  {
    code: 'E406',
    name: 'the Temporal program ends',
    arrange: ({ stage }) => {
      const program = stage.write(
        'broken/temporal',
        '#!/bin/sh\ntest "$1" = --version && echo "temporal version 1.9.0" && exit 0\necho broken >&2\necho "Temporal Metrics: http://localhost:1"\nexit 1\n',
      );
      chmodSync(program, 0o755);
    },
    args: ['dev'],
    env: ({ stage }) => ({
      PATH: `${stage.path('broken')}:${stage.environment['PATH']}`,
      RUNSHEET_HOME: stage.path('broken', 'home'),
    }),
    says: /it exited immediately \(1\): broken/,
    leads: [/./],
  },
  {
    code: 'E417',
    name: 'the embedded servers are of an earlier version',
    arrange: async (ground) => {
      const running = ground.stage.start(['dev']);
      ground.keeps = running;
      await running.says(DEV.prints);
      const home = ground.stage.path('.runsheet');
      const record = readRecord(home);
      if (record !== undefined) writeRecord(home, { ...record, version: '0.0.9', reads: 0 });
      ground.sheet('my late.csv', ROWS);
    },
    args: ['run', 'my late.csv', '-d', 'portraits', '--local', '--name', 'late'],
    says: /\(pid \d+, version 0\.0\.9\) cannot run the batches of version/,
    leads: [0],
    mend: (ground) => ground.keeps?.ended,
  },
  {
    code: 'E516',
    name: 'no server runs the batch any more',
    arrange: async (ground) => {
      ground.sheet('my killed.csv', 'prompt\nkilled\n');
      const args = ['run', 'my killed.csv', '-d', 'portraits', '--local', '--name', 'killed'];
      const running = ground.stage.start(args);
      await running.says(/progress state=running/);
      await running.killTree();
    },
    args: ['follow', 'killed'],
    leads: [0],
  },
  {
    code: 'E548',
    name: 'the servers of another state folder run a batch',
    arrange: async (ground) => {
      ground.sheet(
        'my far.csv',
        `prompt\n${Array.from({ length: 400 }, (_, at) => `far ${at}`).join('\n')}\n`,
      );
      const args = ['run', 'my far.csv', '-d', 'portraits', '--local', '-c', '1', '--name', 'far'];
      const home = { RUNSHEET_HOME: ground.stage.path('far $home') };
      ground.keeps = ground.stage.start(args, home);
      await ground.keeps.says(/progress state=running/);
    },
    args: ['pause', 'far'],
    leads: [0],
    undo: (ground) => ground.keeps?.killTree(),
  },
  {
    code: 'E305',
    name: 'no run service is set',
    arrange: async (ground) => {
      const running = ground.stage.start(['dev']);
      ground.keeps = running;
      await running.says(DEV.prints);
      ground.sheet('my "own" $1.csv', ROWS);
    },
    args: ['plan', 'my "own" $1.csv', '-d', 'portraits'],
    leads: [0],
  },
  {
    code: 'E602',
    name: 'no deployment is given in a rehearsal',
    args: ['plan', 'my "own" $1.csv', '--local'],
    leads: [0],
  },
  {
    code: 'E302',
    name: 'a deployment is misspelt in a rehearsal',
    args: ['plan', 'my "own" $1.csv', '-d', 'potraits', '--local'],
    leads: [0],
  },
  {
    code: 'E561',
    name: 'a stranger triggers a schedule',
    arrange: async (ground) => {
      const { stage } = ground;
      const rule = ['--cron', '0 0 29 2 *', '--tz', 'UTC'];
      await ground.must(
        'schedule',
        'create',
        'nightly',
        'my "own" $1.csv',
        '-d',
        'portraits',
        '--local',
        ...rule,
      );
      const { temporal } = readRecord(stage.path('.runsheet')) ?? {};
      const connection = await Connection.connect({ address: temporal?.address ?? '' });
      const stranger = new Client({ connection, namespace: temporal?.namespace ?? '' });
      await stranger.schedule.getHandle('runsheet:nightly').trigger();
      const show = ['schedule', 'show', 'nightly', '-o', 'json'];
      await until(async () => (await stage.run(show)).stdout.includes('E561'), 'the firing is refused');
      await connection.close();
    },
    args: ['schedule', 'show', 'nightly', '-o', 'json'],
    leads: [0],
    undo: (ground) => ground.keeps?.killTree(),
  },
  {
    code: 'E603',
    name: 'the local service cannot write its database',
    arrange: async (ground) => {
      ground.port = await freePort();
      void queueMany(ground.port);
    },
    // A limit on the size of files stands for the disk: both make a write fail.
    args: ({ port }) => [
      'bash',
      `trap "" XFSZ; ulimit -f 400; runsheet service --db "my service.db" --port ${port}`,
    ],
    env: { RUNSHEET_SERVICE_TOKEN: KEY },
    says: /fix the cause and start the service again with the same --db file/,
  },
];
