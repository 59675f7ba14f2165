// The log of what commands have made, in many small worlds: commands with rows in common run in any order, are killed before and after each
// creation, and lose answers.

import { expect, it } from 'vitest';
import { seededNumber } from '../../src/batch/seeded-number.ts';
import { MadeLog, type Entry } from '../../src/batches/batch-log.ts';
import { BATCH_FILE } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';

const WORLDS = 2_000;
const COMMANDS = 6;
const ROWS = 8;

/** A command that was killed does nothing more. */
const KILLED = new Promise<never>(() => undefined);

class World {
  readonly files = new Map<string, string>();
  /** The next call of each command. */
  readonly #waiting = new Map<number, () => void>();
  readonly seen = { kills: 0, lost: 0, asked: 0, made: 0 };

  readonly #seed: number;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  draw(): number {
    return seededNumber(this.#seed, (this.#drawn += 1));
  }

  /** Until it is the turn of a command. */
  wait(command: number): Promise<void> {
    return new Promise((go) => this.#waiting.set(command, go));
  }

  /** A store call of one command, made when the scheduler picks it. */
  async turn(command: number): Promise<void> {
    await this.wait(command);
    if (this.draw() < 0.04) return this.#kill();
  }

  #kill(): Promise<never> {
    this.seen.kills += 1;
    return KILLED;
  }

  /** Lets commands go on in a random order until none waits. */
  async run(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const commands = [...this.#waiting.keys()];
      const next = commands[Math.floor(this.draw() * commands.length)];
      if (next === undefined) return;
      const go = this.#waiting.get(next);
      this.#waiting.delete(next);
      go?.();
    }
  }

  open(command: number, location: string): Store {
    const at = (name: string): string => `${location}/${name}`;
    const below = (folder: string): readonly string[] => {
      const start = `${at(folder)}/`;
      const paths = [...this.files.keys()].filter((path) => path.startsWith(start));
      return paths.map((path) => path.slice(start.length));
    };
    const store: Partial<Store> = {
      read: async (name) => {
        await this.turn(command);
        return this.files.get(at(name));
      },
      exists: async (name) => {
        await this.turn(command);
        return this.files.has(at(name));
      },
      list: async (folder) => {
        await this.turn(command);
        return below(folder).filter((path) => !path.includes('/'));
      },
      folders: async (folder) => {
        await this.turn(command);
        return [...new Set(below(folder).flatMap((path) => path.split('/').slice(0, -1).slice(0, 1)))];
      },
      create: async (name, content) => {
        await this.turn(command);
        const isNew = !this.files.has(at(name));
        if (isNew) this.files.set(at(name), String(content));
        if (this.draw() < 0.04) await this.#kill();
        if (!isNew || this.draw() > 0.1) return isNew;
        this.seen.lost += 1;
        if (this.draw() < 0.5) return false;
        throw new Error('the answer was lost');
      },
    };
    return store as Store;
  }
}

/** One command: it compares its rows with all batches, and makes its own unless one has some of them. */
async function make(world: World, command: number, rows: readonly number[]): Promise<void> {
  const log = new MadeLog('out', (location) => world.open(command, location));
  const [mark, batch] = [`mark${command}`, `batch${command}`];
  const hasSome = (text: string): boolean => (JSON.parse(text) as number[]).some((row) => rows.includes(row));
  for (let turns = world.draw() * 40; turns > 0; turns -= 1) await world.wait(command);
  const position = await log.position().catch(() => undefined);
  if (position === undefined) return;
  await world.turn(command);
  const batches = [...world.files].filter(([path]) => path.endsWith(BATCH_FILE)).map(([, text]) => text);
  if (batches.some(hasSome)) return void (world.seen.asked += 1);
  world.files.set(`out/${batch}/layout/${mark}/rows`, '');
  const creation = { mark, batch, file: BATCH_FILE, text: JSON.stringify(rows) };
  const isOvertaken = async (entries: readonly (Entry | undefined)[]) =>
    entries.some((entry) => entry === undefined || hasSome(entry.text));
  const made = await log
    .commit(position, creation, { isOvertaken, checkFree: async () => true })
    .catch(() => 'in doubt');
  if (made === 'overtaken') world.seen.asked += 1;
  if (made !== 'made') return;
  world.seen.made += 1;
  expect(world.files.has(`out/${batch}/${BATCH_FILE}`)).toBe(true);
}

it('lets no two commands make the same row, and none says that it has made what does not exist', async () => {
  const seen = { kills: 0, lost: 0, asked: 0, made: 0 };
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const world = new World(seed);
    for (let command = 1; command <= COMMANDS; command += 1) {
      const first = Math.floor(world.draw() * ROWS);
      void make(world, command, [first, first + 1, first + 2]);
    }
    await world.run();
    // The next command completes what a killed one has left.
    void new MadeLog('out', (location) => world.open(0, location)).position().catch(() => 0);
    await world.run();
    const entries = [...world.files]
      .filter(([path]) => path.startsWith('out/.made/'))
      .map(([, text]) => text);
    const rows = entries.flatMap((text) => JSON.parse((JSON.parse(text) as Entry).text) as number[]);
    expect([seed, rows.length]).toEqual([seed, new Set(rows).size]);
    const batches = [...world.files.keys()].filter((path) => path.endsWith(BATCH_FILE));
    expect(entries.length - batches.length).toBeLessThanOrEqual(1);
    for (const what of ['kills', 'lost', 'asked', 'made'] as const) seen[what] += world.seen[what];
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(WORLDS / 10);
});
