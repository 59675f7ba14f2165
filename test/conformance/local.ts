// The local run service as a target: at a thousand times the speed, with one deployment per behaviour.

import { deploymentSpecSchema, startLocalService, type LocalService } from '../../src/run-service/server.ts';
import { openService, type Service } from './service.ts';
import type { Flavour, Target } from './target.ts';

const HOURS = 1e7;
// At a thousand times the speed it runs for twenty seconds, after half a second of boot.
const LONG = 2e4;
const spec = (name: string, fields: object) => deploymentSpecSchema.parse({ name, ...fields });

const USUAL = spec('usual', {
  concurrencyLimit: 200,
  coldStartSeconds: 4,
  runSeconds: 6,
  outputs: 2,
  pictureSize: 16,
  inputTypes: [{ name: 'prompt', type: 'string', required: true }],
});
const KINDS = {
  long: spec('long', {
    coldStartSeconds: 0,
    runSeconds: LONG,
    runTimeoutSeconds: HOURS,
    concurrencyLimit: 200,
  }),
  booting: spec('booting', { coldStartSeconds: HOURS, runTimeoutSeconds: 2 * HOURS, concurrencyLimit: 200 }),
  full: spec('full', { runSeconds: HOURS, runTimeoutSeconds: 2 * HOURS, concurrencyLimit: 1 }),
  failing: spec('failing', { vramGb: 1000, concurrencyLimit: 200 }),
  hasty: spec('hasty', { runSeconds: 60, runTimeoutSeconds: 10, concurrencyLimit: 200 }),
};

const KEY = 'key-of-the-suite';
const OTHER = 'key-of-another';
const REVOKED = 'key-that-was-revoked';
export const TOKENS = [KEY, `another:${OTHER}`, REVOKED];

/** Opens the local service. `patienceMs` is how long a case waits for anything. */
export async function openLocal(flavour: Flavour, patienceMs: number): Promise<Service> {
  const service = await startLocalService({
    port: 0,
    tokens: TOKENS,
    webhooksAnywhere: true,
    speed: 1000,
    database: ':memory:',
    deployments: [USUAL, ...Object.values(KINDS)],
    faults: {},
    behaviour: flavour,
    seed: 1,
  });
  return asTarget(service, {
    deploymentId: USUAL.id,
    deployments: {
      long: KINDS.long.id,
      booting: KINDS.booting.id,
      full: KINDS.full.id,
      hasty: KINDS.hasty.id,
      failing: KINDS.failing.id,
    },
    flavour,
    patienceMs,
  });
}

/** A service with `TOKENS` as the target of the cases, which close it. */
export async function asTarget(
  { url, revoke, close }: LocalService,
  own: Omit<Target, 'base' | 'key' | 'reachesUs' | 'pauseMs'>,
): Promise<Service> {
  revoke(REVOKED);
  const received = await openService({
    base: `${url}/api`,
    legacyBase: `${url}/v1/api`,
    key: KEY,
    otherKey: OTHER,
    revokedKey: REVOKED,
    reachesUs: true,
    pauseMs: 5,
    ...own,
  });
  return {
    ...received,
    close: async () => {
      await received.close();
      await close();
    },
  };
}
