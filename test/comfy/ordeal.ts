// A batch on GPU servers that die: `runsheet run --workflow --comfyui` as a user runs it, once, while every process is killed in turns at
// random moments, another person uses the same servers, and files are deleted there. What it counts can be asserted or printed.

import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { Summary } from '../../src/results/summary.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import { killQuietly } from '../stage/processes.ts';
import { until, type Running, type Stage } from '../stage/stage.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { portrait, seeded } from './own-service.ts';

export type Victim = 'server' | 'service' | 'worker' | 'command';

/** The prompts that a server has executed in all its lives, a line each, as it writes itself: an onlooker misses what is short. */
export const EXECUTED = 'executed.txt';

/** A ComfyUI that can be killed, real or stand-in. */
export type Machine = {
  readonly url: string;
  /** The folder of results, which contains EXECUTED. */
  readonly output: string;
  /** Sends SIGKILL, and starts it again. Resolves when it is dead. */
  readonly restart: () => Promise<void>;
};

export type Plan = {
  readonly machines: readonly Machine[];
  readonly rows: number;
  readonly seconds: number;
  /** In this order, until the batch has ended. */
  readonly victims: readonly Victim[];
  readonly gapMs: { readonly least: number; readonly spread: number };
  /** A server executes at least so many prompts between two deaths, or the batch would not advance. */
  readonly promptsPerLife: number;
  readonly seed: number;
  readonly say: (text: string) => void;
};

export type Figures = {
  readonly kills: Readonly<Record<Victim, number>>;
  readonly minutes: number;
  readonly results: number;
  readonly succeeded: number;
  /** Rows whose picture has another colour than their inputs, or whose seed lost digits. */
  readonly wrong: readonly string[];
  /** Runs that failed because their server died twice; the batch tries their rows again. */
  readonly diedTwice: number;
  /** Runs of a row beyond the first and these. */
  readonly rowsBoughtTwice: number;
  readonly executions: number;
  /** Executions that were lost, as the service counted them and as the summary says. */
  readonly inVain: { readonly counted: number; readonly said: number };
  /** Runs that were executed more than once, and runs that were executed more often than their logs explain. */
  readonly repeated: readonly string[];
  readonly unexplained: readonly string[];
  readonly filesDeleted: number;
  /** Prompts of the other person: those that ended as they should, those that died with their server, and all others. */
  readonly others: { readonly done: number; readonly lost: number; readonly wrong: readonly string[] };
};

/** The prompts of the other person begin so. */
const THEIRS = '00000000';

const PROMPTS = ['a fox', 'an owl', 'a "wolf", at night', 'ein Käuzchen'];

/** Prompts repeat, and of every ten rows one is exactly that of before; seeds have 63 bits. */
const rowOf = (at: number): { prompt: string; seed: string } => {
  const own = at % 10 === 9 ? at - 1 : at;
  return {
    prompt: PROMPTS[own % PROMPTS.length] ?? '',
    seed: String(9_223_372_036_854_775_807n - BigInt(own)),
  };
};

/** Watches what all servers execute, and uses them as another person does. */
class Onlooker {
  readonly lives: number[];
  readonly others = { done: 0, lost: 0, wrong: [] as string[] };
  filesDeleted = 0;
  readonly #running: (string | undefined)[] = [];
  readonly #theirs: Map<string, { machine: number; life: number }> = new Map();
  readonly #machines: readonly Machine[];
  readonly #kept: string;
  readonly #signal: AbortSignal;
  #sent = 0;

  constructor(machines: readonly Machine[], kept: string, signal: AbortSignal) {
    this.#machines = machines;
    this.#kept = kept;
    this.#signal = signal;
    this.lives = machines.map(() => 0);
  }

  /** Whether this server executes something of the batch. */
  executesRun(at: number): boolean {
    return this.#running[at]?.startsWith(THEIRS) === false;
  }

  watch(): Promise<unknown> {
    return Promise.all([
      ...this.#machines.map((_, at) => this.#every(60, () => this.#look(at))),
      this.#every(1_500, () => this.#send()),
      this.#every(2_000, () => this.#tidyUp()),
    ]);
  }

  async #every(ms: number, act: () => Promise<void> | void): Promise<void> {
    while (!this.#signal.aborted) {
      // A server that is dead has no answer.
      await Promise.resolve(act()).catch(() => undefined);
      await wait(ms);
    }
  }

  async #look(at: number): Promise<void> {
    const { queue_running = [] } = (await this.#ask(at, '/queue').catch(() => ({}))) as {
      queue_running?: [number, string][];
    };
    this.#running[at] = queue_running[0]?.[1];
  }

  async #send(): Promise<void> {
    const machine = this.#sent % this.#machines.length;
    const id = `${THEIRS}-0000-4000-8000-${String((this.#sent += 1)).padStart(12, '0')}`;
    const graph = portrait({ seconds: 0.1 });
    const [draw, save] = [graph['3'], graph['9']];
    if (draw) draw.inputs = { ...draw.inputs, text: id };
    if (save) save.inputs['filename_prefix'] = 'theirs/picture';
    const life = this.lives[machine] ?? 0;
    const body = JSON.stringify({ prompt: graph, prompt_id: id, client_id: 'another person' });
    await this.#ask(machine, '/prompt', body);
    this.#theirs.set(id, { machine, life });
  }

  /** Deletes files on the server whose run has kept its own. */
  #tidyUp(): void {
    if (!existsSync(this.#kept)) return;
    for (const day of readdirSync(this.#kept))
      for (const run of readdirSync(join(this.#kept, day)).filter((runId) => this.#isKept(day, runId)))
        for (const { output } of this.#machines) {
          const folder = join(output, 'runsheet', day, run);
          if (!existsSync(folder)) continue;
          this.filesDeleted += readdirSync(folder).length;
          rmSync(folder, { recursive: true });
        }
  }

  #isKept(day: string, run: string): boolean {
    const files = readdirSync(join(this.#kept, day, run));
    return files.length > 0 && files.every((file) => !file.endsWith('.part'));
  }

  /** Each prompt of the other person ended as ever, unless its server died. */
  async judgeOthers(): Promise<void> {
    for (const [id, { machine, life }] of this.#theirs) {
      await until(async () => {
        const { exec_info } = (await this.#ask(machine, '/prompt')) as {
          exec_info: { queue_remaining: number };
        };
        return exec_info.queue_remaining === 0;
      }, 'the servers are idle');
      const entry = ((await this.#ask(machine, `/history/${id}`)) as Record<string, Entry>)[id];
      if (life !== this.lives[machine]) this.others.lost += 1;
      else if (entry?.status.status_str === 'success') this.others.done += 1;
      else this.others.wrong.push(`${id}: ${JSON.stringify(entry?.status) ?? 'it is gone'}`);
    }
  }

  async #ask(machine: number, path: string, body?: string): Promise<unknown> {
    const answer = await fetch(`${this.#machines[machine]?.url}${path}`, {
      signal: AbortSignal.timeout(5_000),
      ...(body !== undefined && { method: 'POST', body }),
    });
    return answer.json();
  }
}

type Entry = { readonly status: { readonly status_str: string } };

/** Runs the batch to its end. */
export async function ordeal(stage: Stage, plan: Plan): Promise<Figures> {
  const began = Date.now();
  const { machines, rows, seconds, say } = plan;
  const home = stage.path('home');
  stage.environment = { ...stage.environment, RUNSHEET_HOME: home };
  const workflow = stage.write('portrait_api.json', JSON.stringify(seeded({ seconds })));
  const wanted = Array.from({ length: rows }, (_, at) => rowOf(at));
  const lines = wanted.map(({ prompt, seed }) => `"${prompt.replaceAll('"', '""')}",${seed}`);
  const sheet = stage.write('sheet.csv', `prompt,seed\n${lines.join('\n')}\n`);
  const over = new AbortController();
  const onlooker = new Onlooker(machines, join(home, 'local-service.db.files'), over.signal);
  const watching = onlooker.watch();
  const first = [
    'run',
    '--no-unique',
    sheet,
    '--workflow',
    workflow,
    ...machines.flatMap(({ url }) => ['--comfyui', url]),
  ];
  const kills = await killInTurns(stage, plan, { first, home, onlooker });
  over.abort();
  await watching;
  await onlooker.judgeOthers();
  say(`the batch has ended after ${Date.now() - began} ms`);
  return { ...judge(stage, home, wanted, onlooker, machines), kills, minutes: (Date.now() - began) / 60_000 };
}

const executedOn = ({ output }: Machine): readonly string[] =>
  readFileSync(join(output, EXECUTED), 'utf8').split('\n').filter(Boolean);

type OrdealScene = { readonly first: readonly string[]; readonly home: string; readonly onlooker: Onlooker };

async function killInTurns(
  stage: Stage,
  { victims, gapMs, promptsPerLife, seed, say, machines }: Plan,
  { first, home, onlooker }: OrdealScene,
): Promise<Record<Victim, number>> {
  const diesAt = machines.map(() => promptsPerLife);
  const kills = { server: 0, service: 0, worker: 0, command: 0 };
  const chance = numbersFrom(seed);
  // Only this command names servers and workflows; after a kill, `resume` goes on without them.
  let command = stage.start(first);
  const progress = (): number =>
    Number(/ done=(\d+) .*$/.exec(command.stderr.trimEnd().split('\n').at(-1) ?? '')?.[1]);
  await until(() => machines.some((_, at) => onlooker.executesRun(at)), 'a run is executed');
  for (const victim of victims) {
    await Promise.race([wait(gapMs.least + chance() * gapMs.spread), command.ended]);
    if (hasEnded(command)) break;
    say(`SIGKILL: ${victim}, at ${progress()} rows`);
    if (victim === 'server') {
      const at = kills.server % machines.length;
      const machine = machines[at] as Machine;
      const isDue = (): boolean =>
        onlooker.executesRun(at) && executedOn(machine).length >= (diesAt[at] ?? 0);
      await until(() => isDue() || hasEnded(command), 'it executes a run', 180_000);
      await wait(chance() * 200);
      await machine.restart();
      diesAt[at] = executedOn(machine).length + promptsPerLife;
      onlooker.lives[at] = (onlooker.lives[at] ?? 0) + 1;
    } else if (victim === 'command') {
      await command.kill();
      const batch = readdirSync(stage.path('batches')).find((name) => !name.startsWith('.')) ?? '';
      command = stage.start(['resume', batch]);
    } else {
      const stack = await stackIn(home);
      killQuietly(stack[victim].pid);
    }
    kills[victim] += 1;
  }
  const { code, stderr } = await command.ended;
  if (code !== 0) throw new Error(`the command ended with ${code}:\n${stderr}`);
  return kills;
}

const hasEnded = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null;

type Stack = Record<'worker' | 'service', { readonly pid: number }>;

/** The processes of the embedded servers, as they write them down. */
async function stackIn(home: string): Promise<Stack> {
  let stack: Partial<Stack> = {};
  await until(() => {
    const file = join(home, 'embedded.json');
    if (existsSync(file)) stack = JSON.parse(readFileSync(file, 'utf8')) as Partial<Stack>;
    return stack.worker !== undefined && stack.service !== undefined;
  }, 'the embedded servers run');
  return stack as Stack;
}

const summaryIn = (batch: string): Summary =>
  JSON.parse(readFileSync(join(batch, 'summary.json'), 'utf8')) as Summary;

function judge(
  stage: Stage,
  home: string,
  wanted: readonly { readonly prompt: string; readonly seed: string }[],
  { others: otherRuns, filesDeleted }: Onlooker,
  machines: readonly Machine[],
): Omit<Figures, 'kills' | 'minutes'> {
  const batch = stage.batch();
  const results = stage.results(batch);
  const wrong = results.flatMap((row, at) => {
    const { prompt = '', seed = '' } = wanted[at] ?? {};
    const picture = join(batch, row['outputs'] ?? '');
    const isRight =
      row['prompt'] === prompt &&
      row['seed'] === seed &&
      existsSync(picture) &&
      colourOf(readFileSync(picture)) === drawnColour(prompt, seed);
    return isRight ? [] : [`row ${at + 1}: ${JSON.stringify(row)}`];
  });
  const database = new DatabaseSync(join(home, 'local-service.db'), { readOnly: true, timeout: 30_000 });
  const runs = database.prepare('SELECT id, state, lostRuns FROM run').all() as {
    id: string;
    state: string;
    lostRuns: number;
  }[];
  database.close();
  const diedTwice = runs.filter(({ state }) => state.includes('stopped twice while')).length;
  const executed = machines.flatMap(executedOn);
  const stateOf = new Map(runs.map(({ id, state }) => [id, state]));
  const ids = [...new Set(executed)];
  const timesOf = (id: string): number => executed.filter((executedId) => executedId === id).length;
  const timesExplained = (id: string): number => {
    const state = stateOf.get(id);
    if (state === undefined) return id.startsWith(THEIRS) ? 1 : 0;
    return 1 + (state.match(/: it is (?:executed|sent) again/g)?.length ?? 0);
  };
  return {
    results: results.length,
    succeeded: results.filter(({ outcome }) => outcome === 'succeeded').length,
    wrong,
    diedTwice,
    rowsBoughtTwice: runs.length - wanted.length - diedTwice,
    inVain: {
      counted: runs.reduce((sum, { lostRuns }) => sum + lostRuns, 0),
      said: summaryIn(batch).executed_again?.executions ?? 0,
    },
    executions: executed.filter((id) => stateOf.has(id)).length,
    repeated: ids.filter((id) => timesOf(id) > 1),
    unexplained: ids
      .filter((id) => timesOf(id) > timesExplained(id))
      .map((id) => `${id}: ${timesOf(id)} times: ${stateOf.get(id)}`),
    filesDeleted,
    others: otherRuns,
  };
}
