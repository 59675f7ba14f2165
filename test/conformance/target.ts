// The target of the cases: a service and its optional features.

import type { Json } from './receiver.ts';

/** If the specification and the real service differ, a case belongs to one of them. */
export type Flavour = 'specification' | 'vendor';

/** Optional features; a case that needs a missing one is skipped. */
export const NEEDS = {
  'legacy base': (target: Target) => target.legacyBase !== undefined,
  'another key': (target: Target) => target.otherKey !== undefined,
  'revoked key': (target: Target) => target.revokedKey !== undefined,
  'webhooks that reach this machine': (target: Target) => target.reachesUs,
  'deployments of all kinds': (target: Target) => target.deployments !== undefined,
  // Own GPUs have no machines that boot, no GPU of one's choice, only the inputs of their workflow, and no node after the end.
  'rented GPUs': (target: Target) => target.isOwn !== true,
} as const;
export type Need = keyof typeof NEEDS;

export type Target = {
  /** The V2 base address, without a trailing slash. */
  readonly base: string;
  readonly legacyBase?: string;
  readonly key: string;
  /** A key of another owner. */
  readonly otherKey?: string;
  readonly revokedKey?: string;
  readonly deploymentId: string;
  /** Deployments that behave in a known way. */
  readonly deployments?: {
    /** A deployment whose runs start, and do not end during any case. */
    readonly long: string;
    /** A deployment whose containers boot for hours; only on rented GPUs. */
    readonly booting?: string;
    /** A deployment with one slot that a run occupies for hours, so that all others wait. */
    readonly full: string;
    /** A deployment whose runs end as timeout. */
    readonly hasty: string;
    /** A deployment whose runs fail. */
    readonly failing: string;
  };
  readonly flavour: Flavour;
  /** Whether runs are executed on GPUs of the user's own. */
  readonly isOwn?: boolean;
  /** The inputs of the run that most cases read (default: inputs of all kinds). */
  readonly inputs?: Json;
  /** The inputs of a run that lasts long enough to be seen at work (default: none). */
  readonly lasting?: Json;
  /** Whether webhooks to the loopback address arrive here. */
  readonly reachesUs: boolean;
  /** How long to wait for expected events, in milliseconds. */
  readonly patienceMs: number;
  /** The interval between two polls of a run, in milliseconds. */
  readonly pauseMs: number;
};
