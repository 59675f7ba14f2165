// Who is killed, and how it comes back: as a supervisor, or a user who types the same command again, brings it back.

import { setTimeout as wait } from 'node:timers/promises';
import { readRecord, type StackRecord } from '../../../src/temporal/embedded/record.ts';
import type { Rig } from './rig.ts';

export const VICTIMS = ['worker', 'Temporal', 'servers', 'command', 'everything', 'run service'] as const;
export type Victim = (typeof VICTIMS)[number];

/** What each victim is, for the page. */
export const VICTIM_WORDS: Readonly<Record<Victim, string>> = {
  worker: 'the embedded worker; started again by its parent',
  Temporal: 'the embedded Temporal server; started again by its parent',
  servers: 'the parent of both; started again by the command that follows it',
  command: 'the command alone; typed again',
  everything: 'the command with its whole tree; typed again',
  'run service': 'the run service, with every connection to it; started again a second later',
};

const SERVICE_AWAY_MS = 1_000;

/** SIGKILL at once, before anything else happens; resolves when it has been started again. */
export function kill(rig: Rig, victim: Victim): Promise<void> {
  switch (victim) {
    case 'worker':
      return killPart(rig, ({ worker }) => worker?.pid);
    case 'Temporal':
      return killPart(rig, ({ temporal }) => temporal?.pid);
    case 'servers':
      return killPart(rig, ({ pid }) => pid);
    case 'command':
      return again(rig, rig.command.kill('SIGKILL'));
    case 'everything':
      return again(rig, rig.command.killTree());
    case 'run service':
      return killService(rig);
  }
}

async function killPart(rig: Rig, pidOf: (record: StackRecord) => number | undefined): Promise<void> {
  const record = readRecord(rig.stage.path('.runsheet'));
  const pid = record && pidOf(record);
  if (pid === undefined) throw new Error('nothing to kill: the embedded servers are not up');
  process.kill(pid, 'SIGKILL');
}

async function again(rig: Rig, gone: Promise<unknown>): Promise<void> {
  await gone;
  rig.type();
}

async function killService(rig: Rig): Promise<void> {
  const gone = Promise.all([rig.service.kill('SIGKILL'), rig.gateway.close()]);
  await gone;
  await wait(SERVICE_AWAY_MS);
  await rig.serve();
}
