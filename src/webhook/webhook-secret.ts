// The secret that signs webhook tokens: from a setting if several workers share it, otherwise generated once per state
// folder.

import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { errorMessage, problem } from '../errors/error.ts';
import { keepSecret } from '../errors/redact.ts';
import type { Config } from '../host/settings/config.ts';
import { secretIn } from '../host/settings/key-file.ts';
import { readOrCreateSecret } from '../host/state-folder.ts';

export const webhookSecret = (config: Pick<Config, 'home' | 'webhook'>): string =>
  keepSecret(configuredOrGenerated(config));

function configuredOrGenerated({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return fromFile(webhook.secretFile);
  return readOrCreateSecret(join(home, 'webhook-secret'));
}

/** Whether the settings provide the secret. */
export const isSecretShared = ({ webhook }: Pick<Config, 'webhook'>): boolean =>
  webhook.secret !== undefined || webhook.secretFile !== undefined;

const FINGERPRINT_DIGITS = 8;

/** A fingerprint that distinguishes secrets and reveals nothing about them. */
export const secretFingerprint = (secret: string): string =>
  createHmac('sha256', secret).update('fingerprint').digest('hex').slice(0, FINGERPRINT_DIGITS);

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
