// Logs are for operators: one JSON line an event, never a body, a key or a whole webhook address.

import { pino, type Logger } from 'pino';
import { terminalJson } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to standard error, because standard output belongs to data. No line carries a kept secret, wherever it stood. */
export function openLog(level: LogLevel, name: string): Logger {
  const base = { name, pid: process.pid };
  const hooks = { streamWrite: (line: string) => terminalJson(withoutSecrets(line)) };
  return pino({ level, name, base, hooks }, pino.destination({ fd: 2, sync: true }));
}
