// A batch of a program as a user runs it, on two seats, while everything is killed at random moments. The script itself
// writes down each execution, and holds a lock of its GPU, so that two programs on one seat would be seen. One that
// stays holds the lock for as long as its process lives.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { Summary } from '../../src/results/summary.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import { colourOf, pictureOf } from '../comfy/image-files.ts';
import { pidInStack } from '../stage/embedded-processes.ts';
import { killQuietly, strays } from '../stage/processes.ts';
import { until, type Running, type Stage } from '../stage/stage.ts';
import { pidsWith } from './program-service.ts';

const VICTIMS = ['shim', 'program', 'service', 'worker', 'stack', 'command', 'everything'] as const;
export type Victim = (typeof VICTIMS)[number];

export type Plan = {
  /** Whether one process for each seat executes one run after another. */
  readonly stays?: boolean;
  readonly rows: number;
  readonly victims: readonly Victim[];
  readonly gapMs: { readonly least: number; readonly spread: number };
  readonly seed: number;
  readonly say: (text: string) => void;
};

export type Figures = {
  readonly kills: Readonly<Record<Victim, number>>;
  readonly seconds: number;
  readonly delivered: number;
  /** Rows without their own picture. */
  readonly wrong: readonly string[];
  /** Programs that found another one on their seat. */
  readonly both: readonly string[];
  /** Executions as the script wrote them down. */
  readonly executions: number;
  /** Rows whose script began more than once. */
  readonly repeatedRows: number;
  /** Rows that began more often than their attempts and the lost executions of their runs say. */
  readonly unsaid: readonly string[];
  /** Lost executions, as the service counted them and as the summary says. */
  readonly lost: { readonly counted: number; readonly said: number };
  /** Further attempts, because a run failed: its program was killed, or its shim twice. */
  readonly furtherAttempts: number;
  /** Processes of programs after the batch has ended. */
  readonly left: number;
};

const SCRIPT = `n=$(sed -n 's/.*"picture \\([0-9]*\\)".*/\\1/p')
exec 9>>"$RUNSHEET_FOLDER/lock-$RUNSHEET_GPU"
flock -n 9 || echo "$n $RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/both"
echo "begin $n $RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/executions"
[ $((n % 17)) = 0 ] && sleep 1.5
sleep 0.3
cp "$RUNSHEET_FOLDER/pictures/$n.png" picture.png
echo "end $n $RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/executions"
`;

const STAYING_SCRIPT = `exec 9>>"$RUNSHEET_FOLDER/lock-$RUNSHEET_GPU"
flock -n 9 || echo "process $RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/both"
echo "$RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/loads"
exec ${process.execPath} "$RUNSHEET_FOLDER/stays.cjs"
`;
const STAYING_LOOP = `
const { appendFileSync, copyFileSync } = require('node:fs');
const { setTimeout: wait } = require('node:timers/promises');
const at = process.env.RUNSHEET_FOLDER;
const answer = (line) => appendFileSync(process.env.RUNSHEET_ANSWERS, JSON.stringify(line) + '\\n');
const note = (text) => appendFileSync(at + '/executions', text + '\\n');
(async () => {
  await wait(500);
  answer({ ready: true });
  for await (const line of require('node:readline').createInterface({ input: process.stdin })) {
    const { id, inputs, dir } = JSON.parse(line);
    const n = Number(/picture (\\d+)/.exec(inputs.prompt)[1]);
    note('begin ' + n + ' ' + id);
    await wait(n % 17 === 0 ? 2000 : 800);
    copyFileSync(at + '/pictures/' + n + '.png', dir + '/picture.png');
    note('end ' + n + ' ' + id);
    answer({ id, ok: true });
  }
})();
`;

/** `count` victims in turns, each kind once before any twice. */
export const victimsInTurns = (count: number): readonly Victim[] =>
  Array.from({ length: count }, (_, at) => VICTIMS[at % VICTIMS.length] as Victim);

/** Runs the batch to its end. */
export async function killOrdeal(stage: Stage, plan: Plan): Promise<Figures> {
  const began = Date.now();
  const home = stage.path('home');
  stage.environment = { ...stage.environment, RUNSHEET_HOME: home };
  stage.write('generate.sh', plan.stays === true ? STAYING_SCRIPT : SCRIPT);
  stage.write('stays.cjs', STAYING_LOOP);
  mkdirSync(stage.path('pictures'));
  const numbers = Array.from({ length: plan.rows }, (_, at) => at + 1);
  for (const number of numbers) writeFileSync(stage.path('pictures', `${number}.png`), pictureOf(number));
  const lines = numbers.map((number) => `${number},picture ${number}`);
  const sheet = stage.write('sheet.csv', `number,prompt\n${lines.join('\n')}\n`);
  const kills = await killInTurns(stage, home, plan, [
    'run',
    sheet,
    '--retries',
    '9',
    // Signal 9 counts as a lack of memory.
    '--retry',
    'out-of-memory=9',
    '--program',
    'sh generate.sh',
    '--gpus',
    '2',
    ...(plan.stays === true ? ['--stays'] : []),
  ]);
  const figures = judge(stage, home, numbers);
  await until(() => pidsWith(`RUNSHEET_FOLDER=${stage.folder}`).length === 0, 'no program is left');
  return { kills, seconds: (Date.now() - began) / 1_000, ...figures, left: 0 };
}

const untilMs = (ms: number): (() => boolean) => {
  const last = Date.now() + ms;
  return () => Date.now() > last;
};

const hasEnded = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null;

async function killInTurns(
  stage: Stage,
  home: string,
  { stays, victims, gapMs, seed, say }: Plan,
  first: readonly string[],
): Promise<Record<Victim, number>> {
  const kills = { shim: 0, program: 0, service: 0, worker: 0, stack: 0, command: 0, everything: 0 };
  const chance = numbersFrom(seed);
  let command = stage.start(first);
  const executions = (): number =>
    linesOf(stage.path('executions')).filter((line) => line.startsWith('begin')).length;
  await until(() => executions() > 0 || hasEnded(command), 'a program runs');
  if (executions() === 0) throw new Error((await command.ended).stderr);
  const again = (): void => {
    const batch = readdirSync(stage.path('batches')).find((name) => !name.startsWith('.')) ?? '';
    command = stage.start(['resume', batch]);
  };
  let before = 0;
  for (const victim of victims) {
    // While a model is loaded, a kill proves little.
    const isLate = untilMs(20_000);
    if (stays === true)
      await until(() => executions() > before || hasEnded(command) || isLate(), 'a further run has begun');
    before = executions();
    await Promise.race([wait(gapMs.least + chance() * gapMs.spread), command.ended]);
    if (hasEnded(command)) {
      const { code, stderr } = await command.ended;
      if (code === 0) break;
      // A command that lost its servers says so, and how to go on.
      say(`the command ended with ${code}: ${stderr.trimEnd().split('\n').at(-1)}`);
      again();
    }
    const pids = await pidsOf(victim, stage, home, command, chance);
    say(`SIGKILL: ${victim} (${pids.length}), after ${executions()} executions`);
    for (const pid of pids) killQuietly(pid);
    kills[victim] += 1;
    if (victim !== 'command' && victim !== 'everything') continue;
    await command.ended;
    again();
  }
  for (let ends = 0; ; ends += 1) {
    const { code, stderr } = await command.ended;
    if (code === 0) return kills;
    if (ends > 3) throw new Error(`the command ended with ${code}:\n${stderr}`);
    again();
  }
}

/** The processes to kill, once there are some. */
async function pidsOf(
  victim: Victim,
  stage: Stage,
  home: string,
  { child }: Running,
  chance: () => number,
): Promise<readonly number[]> {
  if (victim === 'command') return [child.pid ?? 0];
  const programs = (): readonly number[] => pidsWith(`RUNSHEET_FOLDER=${stage.folder}`);
  // While servers start, a kill proves little.
  const last = Date.now() + 15_000;
  await until(() => programs().length > 0 || Date.now() > last || child.exitCode !== null, 'a program runs');
  if (victim === 'everything') return [...new Set([child.pid ?? 0, ...programs(), ...strays(stage.folder)])];
  if (victim === 'worker' || victim === 'service' || victim === 'stack')
    return [await pidInStack(home, victim)];
  let pids: readonly number[] = [];
  await until(() => {
    const shims = shimsIn(home).filter((pid) => programs().includes(pid));
    const shim = shims[Math.floor(chance() * shims.length)];
    pids = victim === 'shim' ? shims.slice(0, 1) : shim === undefined ? [] : programsBelow(shim, programs());
    return pids.length > 0 || hasEnded({ child } as Running);
  }, `there is a ${victim}`);
  return pids;
}

/** The shims that have claimed a try, or that hold a process that stays. */
function shimsIn(home: string): readonly number[] {
  const seats = join(home, 'local-service.db.files', 'programs');
  if (!existsSync(seats)) return [];
  return readdirSync(seats).flatMap((gpu) => {
    const staying = join(seats, gpu, 'staying');
    // The try of a program that stays is claimed by its feeder.
    const folder =
      existsSync(staying) && readdirSync(staying).length > 0 ? staying : join(seats, gpu, 'tries');
    return (existsSync(folder) ? readdirSync(folder) : []).map((name) => numberIn(join(folder, name, 'go')));
  });
}

function numberIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

/** The other processes of the try of a shim. */
const programsBelow = (shim: number, programs: readonly number[]): readonly number[] => {
  try {
    const environment = readFileSync(`/proc/${shim}/environ`, 'utf8').split('\0');
    const mark = environment.find((entry) => entry.startsWith('RUNSHEET_TRY=')) ?? 'none';
    return pidsWith(mark).filter((pid) => pid !== shim && programs.includes(pid));
  } catch {
    return [];
  }
};

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

function judge(
  stage: Stage,
  home: string,
  numbers: readonly number[],
): Omit<Figures, 'kills' | 'seconds' | 'left'> {
  const batch = stage.batch();
  const results = stage.results(batch);
  const begun = linesOf(stage.path('executions')).flatMap(
    (line) => /^begin (\d+) (.*)$/.exec(line)?.[1] ?? [],
  );
  const timesOf = (number: number): number => begun.filter((text) => Number(text) === number).length;
  const attemptsOf = new Map(results.map((row) => [Number(row['number']), Number(row['attempts'])]));
  const database = new DatabaseSync(join(home, 'local-service.db'), { readOnly: true, timeout: 30_000 });
  const runs = database.prepare('SELECT inputs, lostRuns FROM run').all() as {
    inputs: string;
    lostRuns: number;
  }[];
  database.close();
  const lostOf = (number: number): number =>
    runs
      .filter(({ inputs }) => inputs.includes(`"picture ${number}"`))
      .reduce((sum, { lostRuns }) => sum + lostRuns, 0);
  const summary = JSON.parse(readFileSync(join(batch, 'summary.json'), 'utf8')) as Summary;
  return {
    delivered: results.filter(({ outcome }) => outcome === 'succeeded').length,
    wrong: numbers.flatMap((number) => {
      const row = results.find((each) => Number(each['number']) === number);
      const file = join(batch, row?.['outputs'] ?? 'none');
      const isRight =
        row?.['outputs'] !== '' &&
        existsSync(file) &&
        colourOf(readFileSync(file)) === colourOf(pictureOf(number));
      return isRight ? [] : [`row ${number}: ${JSON.stringify(row)}`];
    }),
    both: linesOf(stage.path('both')),
    executions: begun.length,
    repeatedRows: numbers.filter((number) => timesOf(number) > 1).length,
    unsaid: numbers
      .filter((number) => timesOf(number) > (attemptsOf.get(number) ?? 0) + lostOf(number))
      .map((number) => `row ${number}: ${timesOf(number)} times`),
    lost: {
      counted: runs.reduce((sum, { lostRuns }) => sum + lostRuns, 0),
      said: summary.executed_again?.executions ?? 0,
    },
    furtherAttempts: [...attemptsOf.values()].reduce((sum, attempts) => sum + attempts - 1, 0),
  };
}
