// The secret behind the tokens. Given by a setting where several workers share it; else made once for this place.

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';

export function webhookSecret({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return readFileSync(webhook.secretFile, 'utf8').trim();
  return madeOnce(home);
}

function madeOnce(home: string): string {
  const path = join(home, 'webhook-secret');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    // Fails where it exists already: whoever was first has made it for all, and no one reads half of it.
    linkSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}
