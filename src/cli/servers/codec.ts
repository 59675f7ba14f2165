// codec: decrypts a cluster's payloads for Temporal's UI and command line.

import { encryptionWith } from '../../temporal/encryption/codec.ts';
import { openCodecServer } from '../../temporal/encryption/codec-server.ts';
import { payloadKeys } from '../../temporal/encryption/payload-keys.ts';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { keepSecret } from '../../errors/redact.ts';
import { secretIn } from '../../host/settings/key-file.ts';
import { configOf } from '../flags/batch-options.ts';
import type { FlagsOf } from '../flags/flags.ts';
import { printerFor, type Context } from '../context.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import type { codecFlags } from './server-flags.ts';

export default async function codec(this: Context, flags: FlagsOf<typeof codecFlags>): Promise<void> {
  const printer = printerFor(this);
  const keys = payloadKeys(configOf({}), 'cluster');
  if (keys.keys.length === 0)
    throw problem('E602', {
      what: 'there is no key to decrypt with',
      hint: 'set RUNSHEET_PAYLOAD_KEY_FILE to the file that the workers have',
    });
  const server = await openCodecServer({
    codec: encryptionWith(keys),
    listen: flags.listen,
    token: tokenIn(flags.tokenFile),
    origins: flags.origin ?? [],
  });
  using interrupts = hearInterrupts(this.process);
  printer.data(server.url);
  printer.notice('it decrypts for callers with the token; Ctrl-C stops it');
  await interrupts.first;
  server.close();
}

function tokenIn(path: string): string {
  try {
    const token = keepSecret(secretIn(path));
    if (token.length >= 16) return token;
  } catch (error) {
    throw fileFault(error, { path }) ?? error;
  }
  throw problem('E602', {
    what: `the token in ${path} has fewer than 16 characters`,
    hint: `openssl rand -hex 32 > ${path}`,
  });
}
