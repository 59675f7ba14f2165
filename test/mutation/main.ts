// Runs Stryker over src/batch. What earlier runs found out is in incremental.json, so that only mutants are tested whose code or
// tests have changed since then. The file is committed, and holds no more than the next run needs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const CONFIG = 'test/mutation/stryker.json';
const RESULTS = join(import.meta.dirname, 'incremental.json');

type Mutant = {
  readonly status: string;
  readonly coveredBy?: readonly string[];
  readonly [fact: string]: unknown;
};
type Results = {
  readonly schemaVersion: string;
  readonly thresholds: unknown;
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
  readonly testFiles: unknown;
};

await new Stryker({ configFile: CONFIG }).runMutationTest();
const { schemaVersion, thresholds, files, testFiles } = JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;
const kept = Object.fromEntries(
  Object.entries(files).map(([name, file]) => [name, { ...file, mutants: file.mutants.map(withoutExtras) }]),
);
const lines = JSON.stringify({ schemaVersion, thresholds, files: kept, testFiles }).replaceAll(
  /\{"id":/g,
  '\n{"id":',
);
writeFileSync(RESULTS, `${lines}\n`);

/** A killed mutant is tested again when the test that killed it changes; other tests do not matter. */
function withoutExtras(mutant: Mutant): Mutant {
  const extras = new Set(['statusReason', 'testsCompleted']);
  if (mutant.status === 'Killed') extras.add('coveredBy');
  return Object.fromEntries(Object.entries(mutant).filter(([name]) => !extras.has(name))) as Mutant;
}
