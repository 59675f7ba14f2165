// Names for shell completion. Completion must be fast, so it asks no server: batches are folders, and other
// names are those that earlier commands listed.

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GPUS } from '../../options/facts/gpu.ts';
import { isS3Address } from '../../host/s3-address.ts';
import { loadConfig, type Config } from '../../host/settings/config.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { BATCH_FILE, type BatchFile } from '../../store/batch-file.ts';

type ProposedKind = 'deployments' | 'schedules' | 'pools' | 'batches';

const FILE = 'names.json';
const MOST = 1_000;

/** Keeps names for {@link keptNames}. A failed write never fails the command. */
export function keepNames(config: Pick<Config, 'home'>, kind: ProposedKind, names: readonly string[]): void {
  try {
    const { home } = config;
    takeStateFolder(home);
    const namesByKind = { ...namesIn(home), [kind]: names.slice(0, MOST) };
    writeFileSync(join(home, FILE), `${JSON.stringify(namesByKind)}\n`);
  } catch {
    // Without a writable folder, completion proposes nothing.
  }
}

function namesIn(home: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(join(home, FILE), 'utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const keptNames =
  (kind: ProposedKind) =>
  (partial: string): readonly string[] => {
    const names = namesIn(loadConfig().home)[kind];
    return startingWith(partial, Array.isArray(names) ? names : []);
  };

export const schedules = keptNames('schedules');
export const pools = keptNames('pools');
const listedDeployments = keptNames('deployments');
const listedBatches = keptNames('batches');

/** How many batches are read for the names of their deployments. */
const BATCHES_READ = 50;

/** Deployments that commands listed, and those of the batches here. */
export function deployments(partial: string): readonly string[] {
  const { out } = loadConfig();
  if (isS3Address(out)) return listedDeployments(partial);
  const ofBatches = batches('')
    .slice(-BATCHES_READ)
    .map((name) => deploymentOf(join(out, name, BATCH_FILE)));
  return [...new Set([...listedDeployments(partial), ...startingWith(partial, ofBatches)])];
}

/** Reading a larger batch.json would delay a keystroke. */
const BATCH_BYTES = 4 * 1024 * 1024;

function deploymentOf(path: string): unknown {
  try {
    const { deployment } = JSON.parse(readPlainFile(path, { mostBytes: BATCH_BYTES }).text) as BatchFile;
    return deployment.name ?? deployment.id;
  } catch {
    return undefined;
  }
}

export function batches(partial: string): readonly string[] {
  const { out } = loadConfig();
  if (isS3Address(out)) return listedBatches(partial);
  const names = existsSync(out) ? readdirSync(out) : [];
  return startingWith(partial, names).filter((name) => existsSync(join(out, name, BATCH_FILE)));
}

export const gpus = (partial: string): readonly string[] => startingWith(partial, GPUS);

/** A shell would execute control characters, so names that contain them are left out. */
const startingWith = (partial: string, names: readonly unknown[]): readonly string[] =>
  names
    .filter((name) => typeof name === 'string')
    .filter((name) => name.startsWith(partial) && !/\p{C}/u.test(name));
