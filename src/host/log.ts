// The log for operators: one JSON line per event, never a body, a key or a complete webhook address.

import { pino, type Logger } from 'pino';
import { terminalJson } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to stderr, because stdout is for data. Removes registered secrets from every line. */
export function openLog(level: LogLevel, name: string): Logger {
  const base = { name, pid: process.pid };
  const hooks = { streamWrite: (line: string) => terminalJson(withoutSecrets(line)) };
  return pino({ level, name, base, hooks }, pino.destination({ fd: 2, sync: true }));
}
