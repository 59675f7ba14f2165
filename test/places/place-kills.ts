// Batches at several places at once, through one run service and one worker, which are killed in turns while runs
// execute at each place. The places outlive it all and count what they executed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Summary } from '../../src/results/summary.ts';
import { until, type Ended, type Stage } from '../stage/stage.ts';
import type { KilledPart, Killable } from './killable.ts';
import type { Place } from './places.ts';

export type PlaceKills = {
  readonly places: Readonly<Record<string, Place>>;
  readonly rows: number;
  readonly concurrency: number;
  /** How many runs execute at each place when a part is killed; seats of runs in doubt stay taken for long. */
  readonly open: number;
  readonly kills: readonly KilledPart[];
  readonly say: (text: string) => void;
};

/** The account of one batch: what the batch says, against what its place has counted. */
type PlaceAccount = {
  readonly code: number | null;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The text of `verify`. */
  readonly verified: string;
  readonly posts: number;
  readonly executions: number;
  /** Rows that began more than once, with their executions. */
  readonly repeated: Readonly<Record<string, number>>;
  /** Rows that have more executions than attempts. */
  readonly overbought: readonly string[];
  /** Executions in vain, as the summary says. */
  readonly said: number;
  /** Rows that no execution shows, although they succeeded. */
  readonly unexecuted: readonly string[];
  readonly reasons: readonly string[];
};

/** `kills`: how many runs executed at each place at the moment of each kill. */
export type KillReport = {
  readonly accounts: Readonly<Record<string, PlaceAccount>>;
  readonly kills: readonly { readonly part: KilledPart; readonly open: Readonly<Record<string, number>> }[];
};

const hold = (places: PlaceKills['places'], isHeld: boolean): void => {
  for (const place of Object.values(places)) place.hold(isHeld);
};

const promptsOf = (name: string, rows: number): readonly string[] =>
  Array.from({ length: rows }, (_, at) => `${name} ${at}`);

/** Submits a batch at each place, kills, and waits for all ends. */
export async function killWhileRowsRun(
  stage: Stage,
  killable: Killable,
  ordeal: PlaceKills,
): Promise<KillReport> {
  const { places, rows, concurrency, open, kills: parts, say } = ordeal;
  const batches: Record<string, string> = {};
  for (const name of Object.keys(places)) {
    const lines = promptsOf(name, rows).map((prompt, at) => `${prompt},${at}\n`);
    const sheet = stage.write(`${name}.csv`, `prompt,seed\n${lines.join('')}`);
    const { code, stdout, stderr } = await stage.runHere([
      'submit',
      sheet,
      '-d',
      name,
      '-c',
      String(concurrency),
    ]);
    if (code !== 0) throw new Error(stderr);
    batches[name] = stdout.trim();
  }
  const counted = (count: (place: Place) => number): Record<string, number> =>
    Object.fromEntries(Object.entries(places).map(([name, place]) => [name, count(place)]));
  const kills: KillReport['kills'][number][] = [];
  for (const [at, part] of parts.entries()) {
    hold(places, true);
    await until(
      () => Object.values(places).every((place) => place.open() >= open),
      `runs execute before kill ${at + 1}`,
    ).catch((cause: unknown) => {
      const states = Object.entries(places).map(
        ([name, place]) => `${name}: ${place.executed().length} executed, ${place.open()} open`,
      );
      throw new Error(states.join('; '), { cause });
    });
    kills.push({ part, open: counted((place) => place.open()) });
    say(`SIGKILL: ${part}, while runs execute: ${JSON.stringify(kills.at(-1)?.open)}`);
    // The runs end by turns while the part is gone, and after it is there again.
    const restarted = killable.kill(part);
    if (at % 4 < 2) hold(places, false);
    await restarted;
    hold(places, false);
  }
  const accounts: Record<string, PlaceAccount> = {};
  for (const [name, place] of Object.entries(places)) {
    const batch = batches[name] ?? '';
    const end = await stage.runHere(['wait', batch]);
    accounts[name] = await accountOf(stage, { name, batch, end, place, rows });
    say(`${name}: ${JSON.stringify(accounts[name])}`);
  }
  return { accounts, kills };
}

async function accountOf(
  stage: Stage,
  {
    name,
    batch,
    end,
    place,
    rows,
  }: {
    readonly name: string;
    readonly batch: string;
    readonly end: Ended;
    readonly place: Place;
    readonly rows: number;
  },
): Promise<PlaceAccount> {
  const folder = stage.path('batches', batch);
  const results = stage.results(folder);
  const executed = place.executed();
  const times = Map.groupBy(executed, (prompt) => prompt);
  const summary = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Summary;
  const verified = await stage.runHere(['verify', batch]);
  const outcomes = Map.groupBy(results, (row) => row['outcome'] ?? '');
  const succeeded = new Set((outcomes.get('succeeded') ?? []).map((row) => row['prompt']));
  return {
    code: end.code,
    outcomes: Object.fromEntries([...outcomes].map(([outcome, of]) => [outcome, of.length])),
    verified: verified.stdout + verified.stderr,
    posts: place.host?.posts() ?? 0,
    executions: executed.length,
    repeated: Object.fromEntries(
      [...times].flatMap(([prompt, { length }]) => (length > 1 ? [[prompt, length]] : [])),
    ),
    overbought: results.flatMap(({ prompt = '', attempts }) =>
      (times.get(prompt)?.length ?? 0) > Number(attempts) ? [prompt] : [],
    ),
    said: summary.executed_again?.executions ?? 0,
    unexecuted: promptsOf(name, rows).filter((prompt) => succeeded.has(prompt) && !times.has(prompt)),
    reasons: results.flatMap((row) => (row['outcome'] === 'succeeded' ? [] : [row['reason'] ?? ''])),
  };
}
