// The suite: against the local service, in both of its behaviours, or against the service that the environment names.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES } from './all.ts';
import type { Case } from './case.ts';
import { openComfy } from './comfy.ts';
import { openLocal } from './local.ts';
import { openService, type Service } from './service.ts';
import { NEEDS, type Flavour, type Target } from './target.ts';

type Suite = {
  readonly subject: string;
  readonly flavour: Flavour;
  readonly open: () => Promise<Service>;
  /** Why a case is skipped; undefined if it is not. */
  readonly skips: (one: Case) => string | undefined;
};

const PATIENCE_MS = 10_000;
const { env } = process;

const local = (flavour: Flavour): Suite => ({
  subject: `the local service, behaviour ${flavour}`,
  flavour,
  open: () => openLocal(flavour, PATIENCE_MS),
  skips: () => undefined,
});

const comfy = (flavour: Flavour): Suite => ({
  subject: `the local service in front of ComfyUIs, behaviour ${flavour}`,
  flavour,
  open: () => openComfy(flavour, PATIENCE_MS),
  skips: ({ needs = [] }) => (needs.includes('rented GPUs') ? 'needs: rented GPUs' : undefined),
});

const remote = (target: Target): Suite => ({
  subject: `the service at ${target.base}`,
  flavour: target.flavour,
  open: () => openService(target),
  skips: ({ cost, needs = [] }) => {
    const lacking = needs.find((need) => !NEEDS[need](target));
    if (lacking !== undefined) return `needs: ${lacking}`;
    return cost === 'buys runs' && env['RUNSHEET_CONFORMANCE_BUY'] !== '1' ? 'buys runs' : undefined;
  },
});

const url = env['RUNSHEET_CONFORMANCE_URL'];
const SUITES =
  url === undefined
    ? (['specification', 'vendor'] as const).flatMap((flavour) => [local(flavour), comfy(flavour)])
    : [remote(targetOf(url))];

describe.each(SUITES)('$subject', ({ flavour, open, skips }) => {
  let service: Service;
  beforeAll(async () => {
    service = await open();
  });
  afterAll(() => service.close());

  for (const conformanceCase of CASES.filter(({ only = flavour }) => only === flavour)) {
    const reason = skips(conformanceCase);
    const why = reason === undefined ? '' : ` (${reason})`;
    it.skipIf(reason !== undefined).concurrent(`${conformanceCase.name}${why}`, () =>
      expect(conformanceCase.run(service)).resolves.toBeUndefined(),
    );
  }
});

function targetOf(base: string): Target {
  const legacyBase = env['RUNSHEET_CONFORMANCE_V1_URL'];
  return {
    base: base.replace(/\/$/, ''),
    key: needed('RUNSHEET_CONFORMANCE_KEY'),
    deploymentId: needed('RUNSHEET_CONFORMANCE_DEPLOYMENT'),
    ...(legacyBase !== undefined && { legacyBase: legacyBase.replace(/\/$/, '') }),
    flavour: env['RUNSHEET_CONFORMANCE_FLAVOUR'] === 'vendor' ? 'vendor' : 'specification',
    reachesUs: ['127.0.0.1', 'localhost'].includes(new URL(base).hostname),
    patienceMs: 170_000,
    pauseMs: 2000,
  };
}

function needed(name: string): string {
  const value = env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
