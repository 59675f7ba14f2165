// demo: shows a batch on the local run service without a sheet; with --kill, a batch and a loop that are killed again and again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../../errors/error.ts';
import { programFile } from '../../temporal/embedded/processes.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Printer, nextLine } from '../context.ts';
import { withDemoServers } from './demo-servers.ts';
import { race, type Race, type Side } from './kills.ts';

import { hearInterrupts } from '../follow/interrupt.ts';
import { count, money, plural, type Paint } from '../format.ts';
import { columnsOf, openBlock, type BlockStream } from '../follow/progress-view.ts';

type Flags = {
  readonly kill: boolean;
  readonly rows?: number;
  readonly kills: number;
  readonly seed: number;
  readonly output: 'text' | 'json';
};

const ROWS = { plain: 24, kill: 120 };
const CONCURRENCY = 12;
const NEXT = nextLine(['run', 'runsheet run <sheet> -d portraits --local']);
const KILLS = nextLine(['kills', 'runsheet demo --kill']);

export default async function demo(this: Context, flags: Flags): Promise<number> {
  const printer = printerFor(this);
  return flags.kill ? killed(this, printer, flags) : runOnce(this, printer, flags);
}

async function killed({ process }: Context, printer: Printer, flags: Flags): Promise<number> {
  const { rows = ROWS.kill, kills, seed, output } = flags;
  using interrupts = hearInterrupts(process);
  const stop = new AbortController();
  void interrupts.first.then(() => stop.abort());
  const view = openKillsView(printer, process.stderr);
  printer.notice(
    `${rows} rows on two local run services: a batch, and a loop as people write it.\nSIGKILL ends both at random moments; both are started again.`,
  );
  const config = configOf({});
  const notice = (text: string): void => printer.notice(printer.paint('dim', text));
  const size = { rows, concurrency: CONCURRENCY, seed };
  try {
    return await withDemoServers({ config, ...size, notice }, async (servers) => {
      const { race: last, summary } = await race(servers, {
        ...size,
        kills,
        stop: stop.signal,
        show: view.show,
      });
      view.end();
      if (output === 'json') printer.json({ ...last, seed });
      else for (const line of closingLines(last)) printer.data(line);
      printer.notice(`Everything is removed again.\n${NEXT}`);
      return summary.outcomes.succeeded === rows && last.runsheet.twice === 0 ? EXIT.ok : EXIT.someRowsFailed;
    });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    printer.notice('\nstopped; everything is removed again');
    return EXIT.interrupted;
  } finally {
    view.end();
  }
}

/** The rows of a sheet that is made for this, run by the command that a user would give. */
async function runOnce({ process }: Context, printer: Printer, flags: Flags): Promise<number> {
  const { rows = ROWS.plain, output } = flags;
  using opened = new DisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-demo-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  // The child stops the batch; this process only waits for it.
  opened.use(hearInterrupts(process));
  writeFileSync(join(folder, 'demo.csv'), sheetText(rows));
  const args = ['run', 'demo.csv', '-d', 'portraits', '--local', '--demo', '-o', output];
  const { environment } = configOf({});
  const child = spawn(process.execPath, [programFile(), ...args], {
    cwd: folder,
    // The launcher's channel: a command whose launcher is killed ends as at SIGTERM.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...environment,
      RUNSHEET_LAUNCHED: process.argv[1],
      TEMPORAL_ADDRESS: '',
      RUNSHEET_HOME: join(folder, 'state'),
      RUNSHEET_OUT: join(folder, 'batches'),
    },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  printer.notice(`\nThe demo is over, and its folder is removed.\n${NEXT}\n${KILLS}`);
  return code ?? EXIT.interrupted;
}

const SUBJECTS = [
  'a lighthouse keeper',
  'a beekeeper',
  'a cellist',
  'a baker',
  'a glassblower',
  'a gardener',
];
const LIGHTS = ['in soft light', 'at dawn', 'under a lamp', 'by a window'];

const sheetText = (rows: number): string =>
  [
    'prompt,seed',
    ...Array.from({ length: rows }, (_, at) => {
      const light = LIGHTS[Math.floor(at / SUBJECTS.length) % LIGHTS.length];
      return `portrait of ${SUBJECTS[at % SUBJECTS.length]} ${light},${at + 1}`;
    }),
    '',
  ].join('\n');

// Shows the batch and the loop of `demo --kill` side by side, and what both cost at the end.
const NAME_CELLS = 14;
const BAR_CELLS = { least: 6, most: 24 };
const PLAIN_EVERY_MS = 5_000;

type KillsView = { show(state: Race): void; end(): void };

function openKillsView(printer: Printer, stream: BlockStream): KillsView {
  if (!printer.isTerminal) return inLines(printer);
  const block = openBlock(stream);
  return {
    show: (state) => block.draw(picture(state, columnsOf(stream), printer.paint)),
    end: () => block.end(),
  };
}

function inLines(printer: Printer): KillsView {
  let printedAt = Number.NEGATIVE_INFINITY;
  let printed = '';
  return {
    show: ({ rows, kills, runsheet, loop }) => {
      const text = `demo rows=${rows} kills=${kills} ${fields('runsheet', runsheet)} ${fields('loop', loop)}`;
      if (text === printed || performance.now() - printedAt < PLAIN_EVERY_MS) return;
      [printed, printedAt] = [text, performance.now()];
      printer.notice(text);
    },
    end: () => undefined,
  };
}

const fields = (name: string, { done, runs, twice, costUsd }: Side): string =>
  `${name}_done=${done} ${name}_runs=${runs} ${name}_bought_twice=${twice} ${name}_cost_usd=${costUsd.toFixed(4)}`;

export function picture(
  { rows, kills, runsheet, loop }: Race,
  columns: number,
  paint: Paint,
): readonly string[] {
  const cells = Math.floor((columns - NAME_CELLS - 4) / 2);
  const line = (
    name: string,
    left: string,
    right: string,
    leftInk?: 'red' | 'green',
    rightInk?: 'red' | 'green',
  ) =>
    `  ${paint('dim', name.padEnd(NAME_CELLS))}${inked(left.padEnd(cells), leftInk, paint)}${inked(right, rightInk, paint)}`;
  const bar = ({ done }: Side): string => barOf(done, rows, cells);
  const twice = (side: Side) => (side.twice > 0 ? 'red' : 'green');
  return [
    '',
    line('', 'runsheet', 'the same loop by hand'),
    line('rows done', bar(runsheet), bar(loop)),
    line('runs bought', count(runsheet.runs), count(loop.runs)),
    line('bought twice', count(runsheet.twice), count(loop.twice), twice(runsheet), twice(loop)),
    line('cost', money(runsheet.costUsd), money(loop.costUsd)),
    line('killed', times(kills), kills > 0 ? `${times(kills)}, each time back to row 1` : times(kills)),
  ];
}

const inked = (text: string, ink: 'red' | 'green' | undefined, paint: Paint): string =>
  ink === undefined ? text : paint(ink, text);

const times = (kills: number): string => plural(kills, 'time');

function barOf(done: number, rows: number, cells: number): string {
  const numbers = ` ${count(done)}/${count(rows)}`;
  const width = Math.min(BAR_CELLS.most, cells - 2 - numbers.length);
  if (width < BAR_CELLS.least) return numbers.trim();
  const full = Math.floor((done / rows) * width);
  return '█'.repeat(full) + '░'.repeat(width - full) + numbers;
}

export const closingLines = ({ rows, kills, runsheet, loop }: Race): readonly string[] => [
  `runsheet: ${sums(rows, runsheet)}, survived ${plural(kills, 'kill')}`,
  `loop:     ${sums(rows, loop)}, restarted ${plural(kills, 'time')}`,
];

const sums = (rows: number, { runs, twice, costUsd }: Side): string =>
  `${plural(rows, 'row')}, ${plural(runs, 'run')}, ${count(twice)} bought twice, ${money(costUsd)}`;
