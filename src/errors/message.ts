import { shortened } from './outside-text.ts';
import { withoutSecrets } from './redact.ts';

/** Messages appear in signals, records and on screens, and their length is not under our control. */
const REASON_MAX = 1_000;

/** The message of anything that was thrown, without secrets. */
export const errorMessage = (thrown: unknown): string =>
  shortened(withoutSecrets(rawMessage(thrown)), REASON_MAX);

function rawMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const message = plainTls(thrown.message);
  const code = 'code' in thrown && typeof thrown.code === 'string' && !message.includes(thrown.code);
  const own = code ? `${message} (${String((thrown as { code?: unknown }).code)})` : message;
  // AggregateError of a failed connect has an empty message of its own.
  if (own === '' && thrown instanceof AggregateError) return thrown.errors.map(rawMessage).join('; ');
  return own || thrown.name;
}

const UNTRUSTED =
  /(?<!trust: )(self-signed certificate(?: in certificate chain)?|unable to (?:verify the first|get (?:local )?issuer) certificate)(?:; if the root CA is installed locally, try running Node\.js with --use-system-ca)?/g;
const OPENSSL = /(?:[0-9A-F]+:)?error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):[^\n]*\n?/g;

/** Node advises a flag that our command does not have, and OpenSSL names lines of its sources. */
const plainTls = (message: string): string =>
  message
    .replaceAll(
      UNTRUSTED,
      'its certificate is one that this machine does not trust: $1; if its authority is yours, set NODE_EXTRA_CA_CERTS=/path/of/ca.pem (or NODE_USE_SYSTEM_CA=1, if the system knows it)',
    )
    .replaceAll(OPENSSL, 'TLS failed: $1');
