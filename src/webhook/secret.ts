// The secret behind the tokens. Given by a setting where several workers share it; else made once for this place.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';

export function webhookSecret({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return readFileSync(webhook.secretFile, 'utf8').trim();
  return madeOnce(home);
}

function madeOnce(home: string): string {
  const path = join(home, 'webhook-secret');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  try {
    // Fails where it exists already: whoever was first has made it for all.
    writeFileSync(path, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
