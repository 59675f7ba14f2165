// Runs the cases against a gateway that breaks one rule. The cases that name it must fail.

import { CASES, casesOf, inFlavour } from './all.ts';
import { nameOf, type Case } from './case.ts';
import { openLocal } from './local.ts';
import type { Flavour, Violation, Rule } from './rule.ts';

export type Failure = { readonly name: string; readonly reason: string };

// How long to wait for something that must not happen; against the unchanged service nothing takes a tenth of it.
const PATIENCE_MS = 1500;
const HONEST_PATIENCE_MS = 10_000;

/** Runs cases concurrently against the local service, and returns those that fail. */
export async function failuresOf(
  cases: readonly Case[],
  flavour: Flavour,
  violation?: Violation,
): Promise<readonly Failure[]> {
  const service = await openLocal(
    flavour,
    violation,
    violation === undefined ? HONEST_PATIENCE_MS : PATIENCE_MS,
  );
  try {
    const ends = await Promise.all(
      cases.map(async (one) => {
        const name = nameOf(one);
        try {
          await one.run(service);
          return [];
        } catch (error) {
          return [{ name, reason: error instanceof Error ? error.message : String(error) }];
        }
      }),
    );
    return ends.flat();
  } finally {
    await service.close();
  }
}

export type Broken = {
  readonly rule: Rule;
  /** The cases that name the rule and fail when it is broken. */
  readonly seen: readonly string[];
  /** The cases that name the rule and still pass. */
  readonly blind: readonly string[];
  /** Other cases that fail too. */
  readonly also: readonly string[];
};

/** Breaks one rule and runs the cases that name it, or all. */
export async function breakRule(rule: Rule, which: 'its own cases' | 'all cases'): Promise<Broken> {
  const flavour = rule.only ?? 'specification';
  const own = inFlavour(casesOf(rule), flavour);
  const cases = which === 'all cases' ? inFlavour(CASES, flavour) : own;
  const failed = new Set((await failuresOf(cases, flavour, rule.broken)).map(({ name }) => name));
  const names = own.map(nameOf);
  return {
    rule,
    seen: names.filter((name) => failed.has(name)),
    blind: names.filter((name) => !failed.has(name)),
    also: [...failed].filter((name) => !names.includes(name)),
  };
}
