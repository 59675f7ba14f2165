// Two sheets with common rows, given at the same moment by two processes: no common row may be bought twice without a question.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ASKED, Place } from './creating.ts';
import { create } from './create.ts';

const ROUNDS = 20;
const CREATOR = join(import.meta.dirname, 'creator.ts');

type Said = { readonly made?: boolean; readonly refused?: string };

function creatorOf(place: Place, name: string, folder: string, more: object, into?: string): ChildProcess {
  const args = [
    join(place.folder, name),
    join(place.folder, folder),
    JSON.stringify({ answers: {}, ...more }),
  ];
  return fork(CREATOR, args, {
    env: { ...process.env, ASKS: '1', ...(into && { INTO: into }) },
  });
}

const nextOf = async (child: ChildProcess): Promise<Said> => (await once(child, 'message'))[0] as Said;

const REAL = { ...ASKED.service, base: 'https://gpu.example', rehearsal: false };

/** What both say when they begin at the same moment, in each round; `intos` are batches that get the rows. */
async function eachRound(
  folders: readonly string[],
  intos: readonly (string | undefined)[] = [],
): Promise<ReadonlySet<string>> {
  const place = new Place();
  const more = { service: REAL, places: join(place.folder, 'places') };
  const path = (folder = ''): string => join(place.folder, folder);
  for (const [at, into] of intos.entries())
    if (into !== undefined)
      await create(place.write(`${into}.csv`, `prompt\nfirst of ${into}\n`), path(folders[at]), {
        ...more,
        name: into,
      });
  const children = ['one.csv', 'two.csv'].map((name, at) =>
    creatorOf(place, name, folders[at] ?? '', more, intos[at]),
  );
  onTestFinished(() => children.forEach((child) => void child.kill()));
  await Promise.all(children.map(nextOf));
  const both = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `round ${round} row ${from + at}\n`).join('');
    place.write('one.csv', `prompt\n${rows(0, 30)}`);
    place.write('two.csv', `prompt\n${rows(10, 40)}`);
    const ended = Promise.all(children.map(nextOf));
    for (const child of children) child.send('begin');
    const said = (await ended).map(({ made, refused }) => refused ?? `made ${made}`);
    both.add(said.sort().join(', '));
  }
  return both;
}

it.each([
  ['in one folder', ['here', 'here'], 'E531'],
  ['in two folders', ['here', 'there'], 'E539'],
] as const)('of two overlapping sheets at the same moment %s, one asks', async (_where, folders, asked) => {
  expect(await eachRound(folders)).toEqual(new Set([`${asked}, made true`]));
});

it('of two sheets that add the same rows to two batches at the same moment, one asks', async () => {
  expect(await eachRound(['here', 'here'], ['a', 'b'])).toEqual(new Set(['E549, made true']));
});

it.each([
  ['in one folder', ['here', 'here'], 'E531'],
  ['in two folders', ['here', 'there'], 'E539'],
] as const)(
  'of a new batch and rows that are added at the same moment %s, one asks',
  async (_where, folders, asked) => {
    const allowed = new Set([`${asked}, made true`, 'E549, made true']);
    const said = await eachRound(folders, ['a']);
    expect([...said].filter((outcome) => !allowed.has(outcome))).toEqual([]);
  },
);
