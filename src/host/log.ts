// The log for operators: one JSON line per event, never a body, a key or a complete webhook address.

import { pino, type DestinationStream, type Logger } from 'pino';
import { terminalJson } from '../errors/outside-text.ts';
import { countRepeats } from './repeated-lines.ts';
import { withoutSecrets } from '../errors/redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to stderr, because stdout is for data, or to a stream. Removes registered secrets from every line. */
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
