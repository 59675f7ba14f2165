// Breaking a rule: the cases are run against a gateway that breaks this one rule. Those that name it must fail.

import { CASES, casesOf, inFlavour } from './all.ts';
import type { Case } from './case.ts';
import { openLocal } from './local.ts';
import type { Flavour, Lie, Rule } from './rule.ts';

export type Failure = { readonly name: string; readonly reason: string };

// What must not happen is waited for as long as this; against the honest service nothing takes a tenth of it.
const PATIENCE_MS = 1500;
const HONEST_PATIENCE_MS = 10_000;

/** Runs cases against the local service, all at once, and gives those that fail. */
export async function failuresOf(
  cases: readonly Case[],
  flavour: Flavour,
  lie?: Lie,
): Promise<readonly Failure[]> {
  const service = await openLocal(flavour, lie, lie === undefined ? HONEST_PATIENCE_MS : PATIENCE_MS);
  try {
    const ends = await Promise.all(
      cases.map(async ({ name, run }) => {
        try {
          await run(service);
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
  /** The cases that name the rule and hold all the same. */
  readonly blind: readonly string[];
  /** Other cases that fail with it. */
  readonly also: readonly string[];
};

/** Breaks one rule and runs the cases that name it, or all. */
export async function breakRule(rule: Rule, which: 'its own cases' | 'all cases'): Promise<Broken> {
  const flavour = rule.only ?? 'specification';
  const own = inFlavour(casesOf(rule), flavour);
  const cases = which === 'all cases' ? inFlavour(CASES, flavour) : own;
  const failed = new Set((await failuresOf(cases, flavour, rule.broken)).map(({ name }) => name));
  const names = own.map(({ name }) => name);
  return {
    rule,
    seen: names.filter((name) => failed.has(name)),
    blind: names.filter((name) => !failed.has(name)),
    also: [...failed].filter((name) => !names.includes(name)),
  };
}

/** Works through `items`, a few at a time, and gives the results in their order. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
