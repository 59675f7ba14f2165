// Measures the peak memory of a worker by the size of its batch.

import { Place, type Backend } from './place.ts';
import { peakMb } from './servers.ts';

const SIZES = [1_000, 10_000, 100_000];
const CAP = 200;

export type Memory = { readonly rows: number; readonly peakMb: number; readonly rowsPerSecond: number };

export async function measureMemory(backend: Backend): Promise<readonly Memory[]> {
  const place = await Place.open(backend, [{ name: 'short', concurrencyLimit: CAP, runSeconds: 0.05 }]);
  const sizes: Memory[] = [];
  for (const rows of SIZES) {
    const worker = place.worker();
    const { wholeSeconds } = await place.batch({ deployment: 'short', rows, cap: CAP });
    sizes.push({ rows, peakMb: peakMb(worker.child.pid), rowsPerSecond: rows / wholeSeconds });
    console.error(`${rows} rows: ${sizes.at(-1)?.peakMb.toFixed(0)} MB`);
    await worker.stop();
  }
  await place.close();
  return sizes;
}
