import { withoutSecrets } from './secrets.ts';

/** What went wrong, in one line, of anything that was thrown. */
export const reasonOf = (thrown: unknown): string => withoutSecrets(wordsOf(thrown));

function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = 'code' in thrown && typeof thrown.code === 'string' && !thrown.message.includes(thrown.code);
  const own = code ? `${thrown.message} (${String((thrown as { code?: unknown }).code)})` : thrown.message;
  // AggregateError of a failed connect has an empty message of its own.
  if (own === '' && thrown instanceof AggregateError) return thrown.errors.map(wordsOf).join('; ');
  return own || thrown.name;
}
