// late.jsonl: runs that ended when their batch was done already, and that nobody names. A webhook of a known run that is
// told again is no news.

import { createInterface } from 'node:readline';
import type { End } from '../batch/messages.ts';
import type { Store } from '../store/store.ts';
import { readSummary } from './summary.ts';

const LATE_FILE = 'late.jsonl';

/** True where it was news. Whoever calls it does so one after the other: the file is written whole. */
export async function noteLate(store: Store, end: End): Promise<boolean> {
  const summary = await readSummary(store);
  if (summary === undefined || summary.strays.some(({ run_id }) => run_id === end.runId)) return false;
  if (await isNamed(store, 'results.jsonl', end.runId)) return false;
  const before = (await store.read(LATE_FILE)) ?? '';
  if (before.includes(end.runId)) return false;
  const { row, attempt, runId, outcome, reason } = end;
  const line = { row, attempt, run_id: runId, outcome, ...(reason === undefined ? {} : { reason }) };
  await store.write(LATE_FILE, `${before}${JSON.stringify(line)}\n`);
  return true;
}

async function isNamed(store: Store, file: string, runId: string): Promise<boolean> {
  for await (const line of createInterface({ input: store.open(file) }))
    if (line.includes(runId)) return true;
  return false;
}
