// The secret behind the tokens. Given by a setting where several workers share it; else made once for this place.

import { join } from 'node:path';
import type { Config } from '../host/config.ts';
import { problem, errorMessage } from '../errors/error.ts';
import { secretIn } from '../host/key-file.ts';
import { readOrCreateSecret } from '../host/secret-file.ts';
import { keepSecret } from '../errors/redact.ts';

export const webhookSecret = (config: Pick<Config, 'home' | 'webhook'>): string =>
  keepSecret(givenOrMade(config));

function givenOrMade({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return fromFile(webhook.secretFile);
  return readOrCreateSecret(join(home, 'webhook-secret'));
}

/** Throws E602: with an empty secret anybody could sign. */
function fromFile(path: string): string {
  try {
    return secretIn(path);
  } catch (cause) {
    throw problem(
      'E602',
      {
        what: `RUNSHEET_WEBHOOK_SECRET_FILE (${path}) cannot be used: ${errorMessage(cause)}`,
        hint: 'write a long random text into it, such as openssl rand -hex 32 makes, the same for all workers',
      },
      { cause },
    );
  }
}
