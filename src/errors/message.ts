import { shortened } from './outside-text.ts';
import { withoutSecrets } from './redact.ts';

/** Reasons stand in signals, records and on screens, and who wrote them may have had a lot to say. */
const REASON_MAX = 1_000;

/** What went wrong, in one line, of anything that was thrown. */
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
