// Measures many short runs: compares the rate with the ideal and with a plain loop measured in turn, and adds up the processor
// time of every process.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { median } from './median.ts';
import { Place, type Backend } from './place.ts';
import { minus, spentBy, type Spent } from './processor.ts';

const RUN_SECONDS = 0.1;
const ROUNDS = 5;

export type Throughput = {
  readonly backend: Backend;
  readonly rows: number;
  readonly cap: number;
  readonly runSeconds: number;
  readonly idealPerSecond: number;
  readonly perSecond: number;
  readonly loopPerSecond: number;
  /** The median of the ratios per round: both sides of a round run under the same conditions. */
  readonly toLoop: number;
  readonly eventsPerRow: number;
  readonly processor: RowCost;
  /** 99.9 % of the event loop's delays of the worker are below this, in milliseconds. */
  readonly delayMs: number;
};

/** Milliseconds of processor for a row, of the batch and of the loop; files and results included. */
type RowCost = {
  readonly worker: number;
  readonly workerMain: number;
  readonly temporal: number;
  readonly service: number;
  readonly loop: number;
  readonly loopService: number;
};

type Round = {
  readonly batch: number;
  readonly loop: number;
  readonly events: number;
  readonly cost: RowCost;
  readonly delayMs: number;
};

export async function measureThroughput(backend: Backend, cap: number): Promise<Throughput> {
  const rows = 20 * cap;
  const place = await Place.open(backend, [
    { name: 'short', concurrencyLimit: cap, runSeconds: RUN_SECONDS },
  ]);
  const worker = place.worker();
  const rounds: Round[] = [];
  const work = { deployment: 'short', rows, cap };
  // A warm-up, so that both sides and the service run optimised code.
  await place.batch(work);
  await place.loop(work);
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured = await measureRound(place, worker.child.pid ?? 0, work);
    rounds.push(measured);
    console.error(
      `${backend}, ${cap}: ${measured.batch.toFixed(0)} rows/s, loop ${measured.loop.toFixed(0)}`,
    );
  }
  await worker.stop();
  await place.close();
  const middle = (figure: (one: Round) => number): number => median(rounds.map(figure));
  return {
    backend,
    rows,
    cap,
    runSeconds: RUN_SECONDS,
    idealPerSecond: cap / RUN_SECONDS,
    perSecond: middle(({ batch }) => batch),
    loopPerSecond: middle(({ loop }) => loop),
    toLoop: middle(({ batch, loop }) => batch / loop),
    eventsPerRow: middle(({ events }) => events),
    processor: {
      worker: middle(({ cost }) => cost.worker),
      workerMain: middle(({ cost }) => cost.workerMain),
      temporal: middle(({ cost }) => cost.temporal),
      service: middle(({ cost }) => cost.service),
      loop: middle(({ cost }) => cost.loop),
      loopService: middle(({ cost }) => cost.loopService),
    },
    delayMs: middle(({ delayMs }) => delayMs),
  };
}

type Work = Parameters<Place['batch']>[0];
type Parts = Readonly<Record<'worker' | 'temporal' | 'service' | 'loop', Spent>>;

async function measureRound(place: Place, workerPid: number, work: Work): Promise<Round> {
  const { rows } = work;
  const spent = (): Parts => ({
    worker: spentBy(workerPid),
    temporal: place.processorOf('temporal'),
    service: place.processorOf('service'),
    loop: spentBy(process.pid),
  });
  await delayOf(place, workerPid);
  const begun = spent();
  let batched = begun;
  const batch = await place.batch(work, () => (batched = spent()));
  const delayMs = await delayOf(place, workerPid);
  const between = spent();
  const loop = await place.loop(work);
  const looped = spent();
  const row = (from: Parts, to: Parts, part: keyof Parts): number =>
    sumOf(minus(to[part], from[part])) / rows;
  return {
    batch: rows / batch.seconds,
    loop: rows / loop.seconds,
    events: batch.events / rows,
    delayMs,
    cost: {
      worker: row(begun, batched, 'worker'),
      workerMain: minus(batched.worker, begun.worker).mainMs / rows,
      temporal: row(begun, batched, 'temporal'),
      service: row(begun, batched, 'service'),
      loop: row(between, looped, 'loop'),
      loopService: row(between, looped, 'service'),
    },
  };
}

const sumOf = ({ userMs, systemMs }: Spent): number => userMs + systemMs;

/** Asks the worker for the delays since the last question. */
async function delayOf({ folder }: Place, workerPid: number): Promise<number> {
  const path = join(folder, 'delays.json');
  rmSync(path, { force: true });
  process.kill(workerPid, 'SIGUSR2');
  const until = performance.now() + ANSWER_WITHIN_MS;
  for (;;) {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as number;
    } catch (error) {
      // Not there yet, or half written.
      if (performance.now() > until) throw error;
      await wait(ASK_AGAIN_MS);
    }
  }
}

const ANSWER_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 20;
