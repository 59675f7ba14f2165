// A seat without a service in front of it: what becomes of a run of a staying program at the moment between its
// sending and its begin, and of the moment between its answer and the next run.

import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Sent, SentTask } from '../../src/run-service/executors/backend.ts';
import { processesOf } from '../../src/run-service/executors/program/marked-processes.ts';
import { openProgramSeat } from '../../src/run-service/executors/program/program-seat.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { killQuietly } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';
import { pidsWith } from './program-service.ts';
import { stayingScript } from './staying-programs.ts';

const TIMING = { blockedMs: 1, postponedMs: 1, readyMs: 60_000 };
const DRAWS = `writeFileSync(run.dir + '/note.txt', 'hello'); answer({ id: run.id, ok: true });`;
/** Replaces the file of answers, whose new content no notice tells. */
const LOADS = `const file = process.env.RUNSHEET_ANSWERS;
  writeFileSync(file + '.new', '{"ready":true}\\n');
  require('node:fs').renameSync(file + '.new', file);`;

const sent = (id: string): Sent => ({ id, tries: 1, sinceMs: 0, isRepeated: false, ref: undefined });

function openSeat(folder = freshFolder()) {
  const seat = openProgramSeat({ gpu: '0', folder, secret: () => undefined, timing: TIMING });
  onTestFinished(() => seat.close());
  return { folder, seat };
}

/** A seat with the work of a program that stays. */
function staying(body = DRAWS) {
  const home = freshFolder();
  const script = join(home, 'stays.cjs');
  writeFileSync(script, stayingScript(body, LOADS));
  const kill = (): void => pidsWith(`RUNSHEET_FOLDER=${home}`).forEach(killQuietly);
  onTestFinished(kill);
  const command = `exec ${process.execPath} ${script}`;
  const environment = { PATH: process.env['PATH'] ?? '' };
  const program = { command, stays: true, folder: home, environment, secrets: [], files: {} } as const;
  const task: SentTask = {
    target: { kind: 'program', id: 'p', name: 'p', program },
    timeLimitMs: 3_600_000,
  };
  const { folder, seat } = openSeat();
  const isAccepted = async (id: string): Promise<boolean> =>
    (await seat.submit({ ...sent(id), task }, { kind: 'inputs', inputs: {} })).kind === 'accepted';
  const seen = async (id: string) => (await seat.poll([sent(id)])).get(id);
  return {
    folder,
    seat,
    accepted: (id: string) => until(() => isAccepted(id), `the seat takes the run ${id}`),
    seen,
    ended: async (id: string) => {
      await until(async () => (await seen(id))?.at === 'ended', `the run ${id} has ended`);
      return seen(id);
    },
    /** Stops or continues whoever passes runs on to the program. */
    feeder: async (signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> => {
      const [mark = ''] = readdirSync(join(folder, 'staying'));
      for (const pid of await processesOf(mark, ['RUNSHEET_LIMIT_OF'])) process.kill(pid, signal);
    },
    pids: () => pidsWith(`RUNSHEET_FOLDER=${home}`),
    kill,
  };
}

it('a run that is cancelled before its program has got it never begins, and leaves the seat to the next one', async () => {
  const { seat, accepted, seen, ended, feeder } = staying();
  await accepted('first');
  await ended('first');
  await feeder('SIGSTOP');
  await accepted('a');
  await seat.cancel('a', 'waiting');
  expect(await seen('a')).toMatchObject({ at: 'ended', end: { status: 'postponed', ranMs: 0 } });
  seat.forget?.('a');
  await accepted('b');
  await feeder('SIGCONT');
  expect(await ended('b')).toMatchObject({ end: { status: 'success' } });
});

/** A run whose claim has no text yet, and a service that comes later and does not know its process. */
async function claimedByUnknown(atMs: number) {
  const scene = staying();
  await scene.accepted('first');
  await scene.ended('first');
  await scene.feeder('SIGSTOP');
  await scene.accepted('a');
  const go = join(scene.folder, 'tries', 'a.1', 'go');
  writeFileSync(go, '');
  utimesSync(go, atMs / 1_000, atMs / 1_000);
  const { seat } = openSeat(scene.folder);
  return { ...scene, go, later: async () => (await seat.poll([sent('a')])).get('a') };
}

it('a run that is being claimed while a new service looks is waited for, and not executed again', async () => {
  const { go, later } = await claimedByUnknown(Date.now());
  expect(await later()).toEqual({ at: 'waiting', ahead: 0 });
  writeFileSync(go, '7\n');
  expect(await later()).toEqual({ at: 'running' });
});

it('a run whose claim was never finished has not begun once nobody is left who could finish it', async () => {
  const { later, kill } = await claimedByUnknown(Date.now());
  kill();
  await until(async () => (await later())?.at === 'ended', 'the run is given back');
  expect(await later()).toMatchObject({ end: { status: 'postponed' } });
});

it('a claim that stays unfinished for long ends the process, so that the run can begin elsewhere', async () => {
  const { later, feeder, pids } = await claimedByUnknown(Date.now() - 60_000);
  await feeder('SIGCONT');
  expect(await later()).toEqual({ at: 'waiting', ahead: 0 });
  await until(async () => (await later())?.at === 'ended', 'the run is given back');
  expect([await later(), pids()]).toMatchObject([{ end: { status: 'postponed' } }, []]);
});

it('a run that is forgotten before anybody has looked for its answer leaves the seat to the next one', async () => {
  const { seat, accepted, ended } = staying();
  for (const id of ['a', 'b']) {
    await accepted(id);
    expect(await ended(id)).toMatchObject({ end: { status: 'success' } });
    seat.forget?.(id);
  }
  await accepted('c');
});
