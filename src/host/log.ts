// The log for operators: one JSON line per event, never a body, a key or a complete webhook address.

import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { terminalJson } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';
import { withPlainErrors } from './logged-errors.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to a stream, or to stderr, because stdout is for data. Removes registered secrets from every line. */
export function openLog(
  level: LogLevel,
  name: string,
  to: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger {
  const base = { name, pid: process.pid };
  const hooks = {
    logMethod: countRepeats(),
    streamWrite: (line: string) => terminalJson(withoutSecrets(line)),
  };
  return pino({ level, name, base, hooks }, to);
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;
type LogFacts = { readonly reason?: unknown; readonly batch?: unknown; readonly error?: unknown };

const EVERY_MS = 60_000;
/** Beyond this number of different reasons, repeats are not counted. */
const MAX_REASONS = 1_000;
const WARN = 40;
/** Ids and numbers, which differ between requests with the same fault. */
const NAMES = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d+/g;

/** The reason of a warning: its text, or the message of an error. */
const reasonIn = (facts: LogFacts | undefined): unknown =>
  facts?.reason ?? (facts?.error as { readonly message?: unknown } | undefined)?.message;

/**
 * A pino hook that collapses repeats. A lasting fault would write a line for each request that it stops, so of warnings with the
 * same reason the log has the first, and a count once a minute.
 */
function countRepeats(): LogMethod {
  const lasting = new Map<string, { times: number; facts: LogFacts }>();
  return function (args, method, level) {
    const [rawFacts, ...messageArgs] = args as unknown as [facts: LogFacts | undefined, message: unknown];
    const facts = withPlainErrors(rawFacts) as typeof rawFacts;
    const write = (some: LogFacts | undefined): void => {
      method.apply(this, [some, ...messageArgs] as unknown as Parameters<typeof method>);
    };
    const reason = reasonIn(facts);
    if (level < WARN || facts === undefined || typeof reason !== 'string') return write(facts);
    const key = [messageArgs[0], facts.batch, reason.replaceAll(NAMES, '#')].map(String).join('\n');
    const repeated = lasting.get(key);
    if (repeated !== undefined) {
      repeated.times += 1;
      repeated.facts = facts;
      return;
    }
    write(facts);
    if (lasting.size >= MAX_REASONS) return;
    const fault = { times: 0, facts };
    lasting.set(key, fault);
    const timer = setInterval(() => {
      if (fault.times > 0) write({ ...fault.facts, times: fault.times } as LogFacts);
      else {
        lasting.delete(key);
        clearInterval(timer);
      }
      fault.times = 0;
    }, EVERY_MS).unref();
  };
}
