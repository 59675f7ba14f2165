// Measures many short runs: compares the rate with the ideal, and with a plain loop measured at the same time.

import { Place, type Backend } from './place.ts';
import { median } from './median.ts';

const CAP = 200;
const RUN_SECONDS = 0.1;
const ROWS = 4_000;
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
};

export async function measureThroughput(backend: Backend): Promise<Throughput> {
  const work = { deployment: 'short', rows: ROWS, cap: CAP };
  const place = await Place.open(backend, [
    { name: 'short', concurrencyLimit: CAP, runSeconds: RUN_SECONDS },
  ]);
  const worker = place.worker();
  const rounds: { batch: number; loop: number; events: number }[] = [];
  // A warm-up, so that both sides and the service run optimised code.
  await place.batch(work);
  await place.loop(work);
  for (let round = 0; round < ROUNDS; round += 1) {
    const batch = await place.batch(work);
    const loop = await place.loop(work);
    rounds.push({ batch: ROWS / batch.seconds, loop: ROWS / loop.seconds, events: batch.events / ROWS });
    console.error(
      `${backend}: ${rounds.at(-1)?.batch.toFixed(0)} rows/s, loop ${rounds.at(-1)?.loop.toFixed(0)}`,
    );
  }
  await worker.stop();
  await place.close();
  return {
    backend,
    rows: ROWS,
    cap: CAP,
    runSeconds: RUN_SECONDS,
    idealPerSecond: CAP / RUN_SECONDS,
    perSecond: median(rounds.map(({ batch }) => batch)),
    loopPerSecond: median(rounds.map(({ loop }) => loop)),
    toLoop: median(rounds.map(({ batch, loop }) => batch / loop)),
    eventsPerRow: median(rounds.map(({ events }) => events)),
  };
}
