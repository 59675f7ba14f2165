// Whether a worker can work now: each check says what is wrong, or nothing.

import { errorMessage } from '../errors/error.ts';
import { assertWritable } from '../host/disk-space.ts';
import { checkReachable } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';

/** Resolves with what is wrong, or undefined. */
export type Check = () => Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

export type Readiness = {
  readonly isReady: boolean;
  /** By check: `ok`, or what is wrong. */
  readonly checks: Readonly<Record<string, string>>;
};

const CHECK_MS = 3_000;
const FRESH_MS = 1_000;

/** A function that does all checks, at most once a second. */
export function watchReadiness(checks: Checks): () => Promise<Readiness> {
  let last: Promise<Readiness> | undefined;
  let at = -Infinity;
  return () => {
    if (last === undefined || performance.now() - at >= FRESH_MS) {
      at = performance.now();
      last = checkAll(checks);
    }
    return last;
  };
}

async function checkAll(checks: Checks): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const),
  );
  return { isReady: results.every(([, result]) => result === OK), checks: Object.fromEntries(results) };
}

export const OK = 'ok';

/** A check that does not end is a failed one: Temporal may be unreachable without an error. */
async function resultOf(check: Check): Promise<string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${CHECK_MS / 1000} s`), CHECK_MS);
  try {
    return (await Promise.race([check(), late.promise])) ?? OK;
  } catch (error) {
    return errorMessage(error);
  } finally {
    clearTimeout(timer);
  }
}

export const canWrite =
  (folder: string): Check =>
  async () => {
    await assertWritable(folder);
    return undefined;
  };

/** Batches that are not on this machine. */
export const canReach =
  (batches: Store): Check =>
  async () => {
    await checkReachable(batches);
    return undefined;
  };
