// The place where every door is tried: a run service that is no rehearsal, an earlier batch, and a sheet that raises one
// question. Temporal cannot be reached, so a door that goes on ends with E401.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import type { Console } from '../console/console.ts';
import { endBatch, giveOtherId, loseFiles } from '../console/ended-batch.ts';
import { realConsole } from '../console/real-service.ts';
import type { Door, Question } from './table.ts';

export type Scene = {
  readonly question: Question;
  readonly console: Console;
  readonly sheet: string;
  /** The batch that exists. */
  readonly batch: CreatedBatch;
};

const ROWS = 'prompt,seed\na fox,1\nan owl,2\na hen,3\n';
const KEYED = 'id,prompt,seed\nfox,a fox,1\nowl,an owl,2\nhen,a hen,3\n';
const ADDRESSED = 'prompt,seed,photo\na fox,1,https://cdn.example/fox.png?v=1\nan owl,2,\n';
const EXTENDING: ReadonlySet<Door> = new Set(['into', 'append', 'retry', 'retryCall', 'watch']);

const more = (before: string): string => `${before}${before === KEYED ? 'new,' : ''}a newt,4\n`;

/** The sheet for each question; `before` is the sheet of the earlier batch. */
const SHEETS: Readonly<Record<Exclude<Question, 'ofBatch'>, (before: string) => string>> = {
  guesses: (before) =>
    before === KEYED ? 'id,prompt,seed\ngoose,une oie p\u00e2le,9\n' : 'prompt,seed\nune oie p\u00e2le,9\n',
  earlier: more,
  open: more,
  undelivered: more,
  moved: () => ADDRESSED.replace('?v=1', '?v=2'),
  elsewhere: more,
  changed: (before) => before,
  otherGpu: (before) =>
    before === KEYED ? 'id,prompt,seed,gpu\nnew,a newt,4,H100\n' : 'prompt,seed,gpu\na newt,4,H100\n',
  outsideFiles: (before) =>
    before === KEYED
      ? 'id,prompt,seed,photo\nnew,a newt,4,.secret\n'
      : 'prompt,seed,photo\na newt,4,.secret\n',
  manyRows: () => 'prompt,seed\na newt,40\na toad,60\na crow,80\n',
  lowBudget: () => 'prompt,seed\na newt,40\n',
  changedRows: (before) => before.replace('a fox', 'a red fox'),
  boughtBefore: (before) => before,
  boughtSince: more,
  settings: (before) => before,
};

const WITH_FILE = [
  {
    name: 'portraits',
    inputTypes: [
      { name: 'prompt', type: 'string' },
      { name: 'seed', type: 'integer' },
      { name: 'photo', type: 'file' },
    ],
  },
];

export async function sceneOf(question: Question, door: Door): Promise<Scene> {
  const hasFile = question === 'outsideFiles' || question === 'moved';
  const console = await realConsole(hasFile ? WITH_FILE : undefined);
  if (question === 'outsideFiles') console.write('.secret', 'of mine');
  const [before, key] = EXTENDING.has(door) ? [KEYED, 'id'] : [ROWS, undefined];
  const written = question === 'moved' ? ADDRESSED : withColumn(before, question, key);
  const old = console.write('old.csv', written);
  const batch = await console.batch(old, 'old', 'portraits', key);
  if (question !== 'open') await endBatch(batch);
  if (question === 'undelivered') await loseFiles(batch, 3);
  const sheet = join(console.folder, 'old.csv');
  // Two batches that others do not know of share a row.
  if (question === 'boughtSince')
    await endBatch(
      await console.batch(console.write('other.csv', more(before)), 'other', 'portraits', key),
      true,
      'succeeded',
    );
  if (question === 'changed') giveOtherId(join(batch.folder, 'batch.json'));
  if (question === 'elsewhere') vi.stubEnv('RUNSHEET_OUT', join(console.folder, 'other'));
  const text =
    question === 'ofBatch'
      ? readFileSync(join(batch.folder, 'failures.csv'), 'utf8').replace('a hen', 'a white hen')
      : SHEETS[question](before);
  writeFileSync(sheet, Buffer.from(text, question === 'guesses' ? 'latin1' : 'utf8'));
  return { question, console, sheet, batch };
}

const COLUMNS: Readonly<Partial<Record<Question, string>>> = { otherGpu: 'gpu', outsideFiles: 'photo' };

/** Further rows have the columns of their batch. */
function withColumn(text: string, question: Question, key: string | undefined): string {
  const column = COLUMNS[question];
  if (column === undefined || key === undefined) return text;
  const lines = text.trimEnd().split('\n');
  return lines.map((line, at) => `${line},${at === 0 ? column : ''}\n`).join('');
}
