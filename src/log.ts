// Logs are for operators: one JSON line an event, never a body, a key or a whole webhook address.

import { pino, type Logger } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to standard error, because standard output belongs to data. */
export function openLog(level: LogLevel, name: string): Logger {
  return pino({ level, name, base: { name, pid: process.pid } }, pino.destination({ fd: 2, sync: true }));
}
