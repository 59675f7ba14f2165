// Measures runs of several seconds: how close the batch is to the ideal when every freed slot must be filled again.

import { median } from './median.ts';
import { Place, type Backend } from './place.ts';

const CAP = 50;
const ROUNDS_OF_CAP = 20;

export type Steady = {
  readonly runSeconds: number;
  readonly cap: number;
  readonly rows: number;
  readonly seconds: number;
  readonly toIdeal: number;
  /** The median from the end of a run to the next POST, in milliseconds, where run times vary by half. */
  readonly refillMs: number;
};

export async function measureSteady(backend: Backend, runSeconds: number): Promise<Steady> {
  const rows = CAP * ROUNDS_OF_CAP;
  const place = await Place.open(backend, [
    { name: 'steady', concurrencyLimit: CAP, runSeconds },
    { name: 'varied', concurrencyLimit: CAP, runSeconds, runSpread: 0.5 },
    { name: 'warm', concurrencyLimit: CAP, runSeconds: 0.1 },
  ]);
  const worker = place.worker();
  await place.batch({ deployment: 'warm', rows, cap: CAP });
  const { seconds } = await place.batch({ deployment: 'steady', rows, cap: CAP });
  const { refillsMs } = await place.batch({ deployment: 'varied', rows: 5 * CAP, cap: CAP });
  const refillMs = median(refillsMs);
  await worker.stop();
  await place.close();
  const toIdeal = (runSeconds * ROUNDS_OF_CAP) / seconds;
  console.error(
    `${CAP} × ${runSeconds} s: ${toIdeal.toFixed(3)} of the ideal, ${refillMs} ms to the next POST`,
  );
  return { runSeconds, cap: CAP, rows, seconds, toIdeal, refillMs };
}
