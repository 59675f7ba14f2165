// A batch of a hosted model as a user runs it, in front of a stand-in for the vendor: answers are lost, and everything of
// runsheet is killed at random moments. The stand-in outlives it all and counts what was bought.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { VENDOR_FACTS, type Vendor } from '../../src/options/facts/server-kind.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import { pidInStack } from '../stage/embedded-processes.ts';
import { killQuietly, strays } from '../stage/processes.ts';
import { until, type Ended, type Running, type Stage } from '../stage/stage.ts';
import type { LostAnswer, VendorStandIn } from './vendor-stand-in.ts';

const PARTS = ['service', 'worker', 'command', 'stack', 'everything'] as const;
type KilledPart = (typeof PARTS)[number];

export type Ordeal = {
  readonly vendor: Vendor;
  readonly rows: number;
  readonly kills: number;
  /** Answers that are lost, spread over the batch. */
  readonly losses: readonly { readonly how: LostAnswer; readonly when: 'before' | 'after' }[];
  readonly seed: number;
  readonly say: (text: string) => void;
};

export type Purchases = {
  readonly kills: number;
  readonly delivered: number;
  /** Rows of which nobody can know whether they were bought. */
  readonly unknown: number;
  /** Rows whose picture is not the one of their own prompt. */
  readonly wrong: readonly string[];
  readonly posts: number;
  /** Executions at the vendor: what is paid for. */
  readonly executions: number;
  readonly boughtTwice: readonly string[];
};

/** Runs a batch to its end. */
export async function vendorOrdeal(stage: Stage, standIn: VendorStandIn, ordeal: Ordeal): Promise<Purchases> {
  const { vendor, rows } = ordeal;
  const key = stage.write('vendor.key', standIn.key);
  stage.environment = {
    RUNSHEET_HOME: stage.path('home'),
    [`RUNSHEET_${vendor.toUpperCase()}_URL`]: standIn.url,
    [VENDOR_FACTS[vendor].variable]: '',
  };
  standIn.setDuration(700);
  standIn.setParallel(4);
  const lines = Array.from({ length: rows }, (_, at) => `fox ${at + 1},${at}`);
  const sheet = stage.write('sheet.csv', `prompt,seed\n${lines.join('\n')}\n`);
  const model = [
    '--model',
    `${vendor}:${standIn.model}`,
    '--key-file',
    key,
    '-c',
    '8',
    '--time-limit',
    '20s',
  ];
  const kills = await killInTurns(stage, standIn, ordeal, ['run', sheet, ...model]);
  return { kills, ...judge(stage, standIn, rows) };
}

const hasEnded = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null;

async function killInTurns(
  stage: Stage,
  standIn: VendorStandIn,
  { kills, losses, seed, say }: Ordeal,
  first: readonly string[],
): Promise<number> {
  const chance = numbersFrom(seed);
  let command = stage.start(first);
  const again = (): void => {
    const batch = readdirSync(stage.path('batches')).find((name) => !name.startsWith('.')) ?? '';
    command = stage.start(['resume', batch]);
  };
  await until(() => standIn.posts() > 0 || hasEnded(command), 'a run is sent');
  if (standIn.posts() === 0) throw new Error((await command.ended).stderr);
  let killed = 0;
  for (; killed < kills; killed += 1) {
    const loss = losses[killed];
    if (loss !== undefined) standIn.lose(loss.how, 1, loss.when);
    const next = standIn.executions().length + 1 + Math.floor(chance() * 4);
    await until(() => standIn.executions().length >= next || hasEnded(command), 'further rows execute');
    if (hasEnded(command)) {
      const { code, stderr } = await command.ended;
      if (code === 0) break;
      say(`the command ended with ${code}: ${stderr.trimEnd().split('\n').at(-1)}`);
      again();
    }
    const part = PARTS[killed % PARTS.length] as KilledPart;
    const pids = await pidsOf(part, stage, command);
    say(`SIGKILL: ${part} (${pids.length}), after ${standIn.executions().length} executions`);
    for (const pid of pids) killQuietly(pid);
    if (part !== 'command' && part !== 'everything') continue;
    await command.ended;
    again();
  }
  await ended(() => command, again);
  return killed;
}

/** Waits for the end of the batch, whose command may lose its servers a few times. */
async function ended(command: () => Running, again: () => void): Promise<Ended> {
  for (let ends = 0; ; ends += 1) {
    const end = await command().ended;
    if (end.code === 0) return end;
    if (ends > 3) throw new Error(`the command ended with ${end.code}:\n${end.stderr}`);
    again();
  }
}

async function pidsOf(part: KilledPart, stage: Stage, { child }: Running): Promise<readonly number[]> {
  if (part === 'command') return [child.pid ?? 0];
  if (part === 'everything') return [...new Set([child.pid ?? 0, ...strays(stage.folder)])];
  return [await pidInStack(stage.path('home'), part)];
}

function judge(stage: Stage, standIn: VendorStandIn, rows: number): Omit<Purchases, 'kills'> {
  const batch = stage.batch();
  const results = stage.results(batch);
  const bought = Map.groupBy(standIn.executions(), ({ input }) => String(input['prompt']));
  const prompts = Array.from({ length: rows }, (_, at) => `fox ${at + 1}`);
  const count = (outcome: string): number => results.filter((row) => row['outcome'] === outcome).length;
  return {
    delivered: count('succeeded'),
    unknown: count('unknown'),
    // A picture of the stand-in has its inputs in a comment.
    wrong: prompts.filter((prompt) => {
      const row = results.find((result) => result['prompt'] === prompt);
      const file = join(batch, row?.['outputs'] || 'none');
      return !existsSync(file) || !readFileSync(file).includes(`"${prompt}"`);
    }),
    posts: standIn.posts(),
    executions: standIn.executions().length,
    boughtTwice: [...bought].flatMap(([prompt, runs]) => (runs.length > 1 ? [prompt] : [])),
  };
}
