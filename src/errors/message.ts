import { shortened } from './outside-text.ts';
import { withoutSecrets } from './redact.ts';

/** Messages appear in signals, records and on screens, and their length is not under our control. */
const REASON_MAX = 1_000;

/** The message of anything that was thrown, without secrets. */
export const errorMessage = (thrown: unknown): string =>
  shortened(withoutSecrets(rawMessage(thrown)), REASON_MAX);

function rawMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = 'code' in thrown && typeof thrown.code === 'string' && !thrown.message.includes(thrown.code);
  const own = code ? `${thrown.message} (${String((thrown as { code?: unknown }).code)})` : thrown.message;
  // AggregateError of a failed connect has an empty message of its own.
  if (own === '' && thrown instanceof AggregateError) return thrown.errors.map(rawMessage).join('; ');
  return own || thrown.name;
}
