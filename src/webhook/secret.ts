// The secret behind the tokens. Given by a setting where several workers share it; else made once for this place.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { madeOnce } from '../made-once.ts';
import { keepSecret } from '../secrets.ts';

export const webhookSecret = (config: Pick<Config, 'home' | 'webhook'>): string =>
  keepSecret(givenOrMade(config));

function givenOrMade({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return readFileSync(webhook.secretFile, 'utf8').trim();
  return madeOnce(join(home, 'webhook-secret'));
}
