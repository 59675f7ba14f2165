// What the cases are run against, and what they may ask of it.

import type { Flavour } from './rule.ts';

/** What not every service offers; a case that needs it is skipped without it. */
export const NEEDS = {
  'legacy base': (target: Target) => target.legacyBase !== undefined,
  'another key': (target: Target) => target.otherKey !== undefined,
  'revoked key': (target: Target) => target.revokedKey !== undefined,
  'webhooks that reach this machine': (target: Target) => target.reachesUs,
  'deployments of all kinds': (target: Target) => target.deployments !== undefined,
} as const;
export type Need = keyof typeof NEEDS;

export type Target = {
  /** The V2 base address, without a slash at its end. */
  readonly base: string;
  readonly legacyBase?: string;
  readonly key: string;
  /** A key of another owner. */
  readonly otherKey?: string;
  readonly revokedKey?: string;
  readonly deploymentId: string;
  /** Deployments that behave in a known way. */
  readonly deployments?: {
    /** Its runs start, and work for as long as any case looks. */
    readonly long: string;
    /** Its containers boot for hours. */
    readonly booting: string;
    /** One run takes its only place for hours, and all others wait. */
    readonly full: string;
    /** Its runs end as timeout. */
    readonly hasty: string;
    /** Its runs fail. */
    readonly failing: string;
  };
  readonly flavour: Flavour;
  /** Whether webhooks to the loopback address arrive here. */
  readonly reachesUs: boolean;
  /** How long is waited for what must happen, in milliseconds. */
  readonly patienceMs: number;
  /** Between two looks at a run, in milliseconds. */
  readonly pauseMs: number;
};
