// What the shell proposes while a command is typed. It must be quick, so no server is asked: batches are folders, and the
// names of deployments, schedules, pools and batches in S3 are those that commands have listed here.

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GPUS } from '../../options/gpu.ts';
import { isS3Address } from '../../host/s3-keys.ts';
import { loadConfig, type Config } from '../../host/config.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { BATCH_FILE, type BatchFile } from '../../store/batch-file.ts';

type Kind = 'deployments' | 'schedules' | 'pools' | 'batches';

const FILE = 'names.json';
const MOST = 1_000;

/** Keeps the names for {@link known}. A command does not fail because of them. */
export function keepNames(config: Pick<Config, 'home'>, kind: Kind, names: readonly string[]): void {
  try {
    const { home } = config;
    takeStateFolder(home);
    const all = { ...namesIn(home), [kind]: names.slice(0, MOST) };
    writeFileSync(join(home, FILE), `${JSON.stringify(all)}\n`);
  } catch {
    // A folder that cannot be written has nothing to propose.
  }
}

function namesIn(home: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(join(home, FILE), 'utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const known =
  (kind: Kind) =>
  (partial: string): readonly string[] => {
    const names = namesIn(loadConfig().home)[kind];
    return startingWith(partial, Array.isArray(names) ? names : []);
  };

export const schedules = known('schedules');
export const pools = known('pools');
const listedDeployments = known('deployments');
const listedBatches = known('batches');

/** The batches here that are read for the names of their deployments. */
const BATCHES_READ = 50;

/** Those that were listed, and those of batches. */
export function deployments(partial: string): readonly string[] {
  const { out } = loadConfig();
  if (isS3Address(out)) return listedDeployments(partial);
  const ofBatches = batches('')
    .slice(-BATCHES_READ)
    .map((name) => deploymentOf(join(out, name, BATCH_FILE)));
  return [...new Set([...listedDeployments(partial), ...startingWith(partial, ofBatches)])];
}

/** A larger one takes too long for a key. */
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

/** Names with control characters are left out, because a shell would obey them. */
const startingWith = (partial: string, names: readonly unknown[]): readonly string[] =>
  names
    .filter((name) => typeof name === 'string')
    .filter((name) => name.startsWith(partial) && !/\p{C}/u.test(name));
