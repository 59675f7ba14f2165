// The log of a run on the wire, in the service's two forms: as a whole, and as a stream.

import { z } from 'zod';

/** One line of a run's log; times are milliseconds since 1970. */
export type LogLine = {
  readonly atMs: number;
  readonly level: 'info' | 'error' | 'webhook';
  readonly message: string;
};

const LEVELS: readonly string[] = ['info', 'error', 'webhook'] satisfies LogLine['level'][];

const lineWire = z.looseObject({
  timestamp: z.string().nullish(),
  log: z.string().nullish(),
  log_type: z.string().nullish(),
});

/** The log of a run as the service sends it; an unknown level counts as information. */
export const runLogSchema = z.array(lineWire).transform((lines): readonly LogLine[] =>
  lines.map(({ timestamp, log, log_type: level }) => ({
    atMs: Date.parse(timestamp ?? '') || 0,
    level: LEVELS.includes(level ?? '') ? (level as LogLine['level']) : 'info',
    message: log ?? '',
  })),
);
