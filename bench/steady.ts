// Measures runs of several seconds: how close the batch is to the ideal when every freed slot must be filled again.

import { Place, type Backend } from './place.ts';

const CAP = 50;
const ROUNDS_OF_CAP = 20;

export type Steady = {
  readonly runSeconds: number;
  readonly cap: number;
  readonly rows: number;
  readonly seconds: number;
  readonly toIdeal: number;
};

export async function measureSteady(backend: Backend, runSeconds: number): Promise<Steady> {
  const rows = CAP * ROUNDS_OF_CAP;
  const place = await Place.open(backend, [
    { name: 'steady', concurrencyLimit: CAP, runSeconds },
    { name: 'warm', concurrencyLimit: CAP, runSeconds: 0.1 },
  ]);
  const worker = place.worker();
  await place.batch({ deployment: 'warm', rows, cap: CAP });
  const { seconds } = await place.batch({ deployment: 'steady', rows, cap: CAP });
  await worker.stop();
  await place.close();
  const toIdeal = (runSeconds * ROUNDS_OF_CAP) / seconds;
  console.error(`${CAP} × ${runSeconds} s: ${toIdeal.toFixed(3)} of the ideal`);
  return { runSeconds, cap: CAP, rows, seconds, toIdeal };
}
