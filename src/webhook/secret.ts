// The secret that signs webhook tokens: from a setting if several workers share it, otherwise generated once per state folder.

import { join } from 'node:path';
import type { Config } from '../host/config.ts';
import { problem, errorMessage } from '../errors/error.ts';
import { secretIn } from '../host/key-file.ts';
import { readOrCreateSecret } from '../host/secret-file.ts';
import { keepSecret } from '../errors/redact.ts';

export const webhookSecret = (config: Pick<Config, 'home' | 'webhook'>): string =>
  keepSecret(configuredOrGenerated(config));

function configuredOrGenerated({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return fromFile(webhook.secretFile);
  return readOrCreateSecret(join(home, 'webhook-secret'));
}

/** Throws E602 if the file is unusable: with an empty secret anyone could sign. */
function fromFile(path: string): string {
  try {
    return secretIn(path);
  } catch (cause) {
    throw problem(
      'E602',
      {
        what: `RUNSHEET_WEBHOOK_SECRET_FILE (${path}) cannot be used: ${errorMessage(cause)}`,
        hint: 'write the same long random text into it for all workers; create one with: openssl rand -hex 32',
      },
      { cause },
    );
  }
}
