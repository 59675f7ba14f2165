// Detects the critical moments of a batch, and acts synchronously when one comes.

import { existsSync, readFileSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { refreshBatch } from '../../../workflows/signals.ts';
import { workflowIdOf } from '../../../src/batch/workflow-ids.ts';
import type { Moment } from '../../stage/gateway.ts';
import type { Rig } from './rig.ts';

export const MOMENTS = {
  birth: 'batch.json exists, and the workflow has not started',
  start: 'started.json exists: the workflow has run its first activity',
  arrived: 'a request is in flight and has not reached the service',
  taken: 'the service has responded, and the response is in flight',
  answered: 'the response to a request has arrived',
  files: 'the files of a row are being fetched',
  part: 'a part is being written',
  'continue-as-new': 'the workflow is asked to continue as new, or has just done so',
  close: 'the results are being written',
  any: 'any moment',
} as const;
export type When = keyof typeof MOMENTS;

/** Kills the victim; returns whether there was a process to kill. */
type Strike = () => boolean;

/** Acts when the moment comes; returns whether it came in time and the strike succeeded. */
export function atMoment(rig: Rig, when: When, patienceMs: number, strike: Strike): Promise<boolean> {
  const until = Date.now() + patienceMs;
  const inBatch = (name: string, isIt: (name: string) => boolean): Promise<boolean> =>
    atFolder(join(rig.folder() ?? '', name), isIt, until, strike);
  switch (when) {
    case 'birth':
      return whenThere(rig, 'batch.json', 'started.json', until, strike);
    case 'start':
      return whenThere(rig, 'started.json', 'summary.json', until, strike);
    case 'arrived':
    case 'taken':
    case 'answered':
      return atGateway(rig, when, patienceMs, strike);
    case 'files':
      return inBatch('outputs', () => true);
    case 'part':
      return inBatch('parts', (name) => name.endsWith('.part'));
    case 'continue-as-new':
      return whileContinuing(rig, until, strike);
    case 'close':
      return whileClosing(rig, until, strike);
    case 'any':
      return wait(Math.random() * 1_500).then(strike);
  }
}

const LOOK_MS = 2;

/** Waits until a file of the batch exists but the next one does not. */
async function whenThere(
  rig: Rig,
  file: string,
  next: string,
  until: number,
  strike: Strike,
): Promise<boolean> {
  const batches = rig.stage.path('batches');
  while (Date.now() < until && !rig.isOver()) {
    const names = existsSync(batches) ? readdirSync(batches).filter((name) => !name.startsWith('.')) : [];
    const folder = join(batches, names[0] ?? 'none');
    if (existsSync(join(folder, file))) return !existsSync(join(folder, next)) && strike();
    await wait(LOOK_MS);
  }
  return false;
}

const AWAY_MS = 200;

function atGateway(rig: Rig, moment: Moment, patienceMs: number, strike: Strike): Promise<boolean> {
  const { gateway } = rig;
  if (gateway === undefined) return wait(AWAY_MS, false);
  return new Promise((done) => {
    let isOver = false;
    const end = (hit: boolean): void => {
      isOver = true;
      done(hit);
    };
    const late = setTimeout(end, patienceMs, false);
    gateway.atNext(moment, () => {
      if (isOver) return;
      clearTimeout(late);
      end(strike());
    });
  });
}

/** Waits until a matching file changes in the folder; false if there is no such folder. */
function atFolder(
  folder: string,
  isIt: (name: string) => boolean,
  until: number,
  strike: Strike,
): Promise<boolean> {
  if (!existsSync(folder)) return Promise.resolve(false);
  return new Promise((done) => {
    const watcher = watch(folder);
    const end = (hit: boolean): void => {
      clearTimeout(late);
      watcher.close();
      done(hit);
    };
    const late = setTimeout(() => end(false), Math.max(0, until - Date.now()));
    watcher.on('error', () => end(false));
    watcher.on('change', (_, name) => {
      if (isIt(String(name))) end(strike());
    });
  });
}

const CONTINUES_WITHIN_MS = 400;

/** Strikes at a random time after the request, or, in half of the cases, as soon as the new workflow run appears. */
async function whileContinuing(rig: Rig, until: number, strike: Strike): Promise<boolean> {
  const name = rig.name();
  if (name === undefined) return false;
  try {
    const client = await rig.client();
    const handle = client.workflow.getHandle(workflowIdOf(name));
    const before = (await handle.describe()).runId;
    await handle.signal(refreshBatch, { commandId: `chaos-${Date.now()}` });
    if (Math.random() < 0.5) {
      await wait(Math.random() * CONTINUES_WITHIN_MS);
      return strike();
    }
    while (Date.now() < until) if ((await handle.describe()).runId !== before) return strike();
    return false;
  } catch {
    // The server is down, or the batch is done.
    return false;
  }
}

const WRITES_WITHIN_MS = 60;
const DRAFT = /^\.[0-9a-f]{12}-\d+\.part$/;

async function whileClosing(rig: Rig, until: number, strike: Strike): Promise<boolean> {
  const folder = rig.folder();
  if (folder === undefined || !existsSync(join(folder, 'started.json'))) return false;
  let isBegun = false;
  await atFolder(
    folder,
    (name) => DRAFT.test(name) && isCollected(folder, rig.params.rows),
    until,
    () => (isBegun = true),
  );
  if (!isBegun) return false;
  if (Math.random() < 0.7) await wait(Math.random() * WRITES_WITHIN_MS);
  return !existsSync(join(folder, 'summary.json')) && strike();
}

/** Whether every row is in a part: files that are written next to batch.json after that are the results. */
function isCollected(folder: string, rows: number): boolean {
  const parts = join(folder, 'parts');
  const names = existsSync(parts) ? readdirSync(parts).filter((name) => /^\d.*\.jsonl$/.test(name)) : [];
  const lines = names.map((name) => readFileSync(join(parts, name), 'utf8').split('\n').length - 1);
  return lines.reduce((sum, count) => sum + count, 0) >= rows;
}
