// A receiver and its handler with all they need; a test passes only what it looks at.

import pino from 'pino';
import { ReportedRuns } from '../../src/webhook/reported-runs.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { openReceiver, type Receiver } from '../../src/webhook/receiver.ts';

export const SECRET = 'a secret';
export const NAME = { batch: 'b', mark: '0123456789abcdef', place: 7, attempt: 1 };

type Deps = Omit<Parameters<typeof openReceiver>[0], 'secret'>;

export const handling = (own: Partial<Deps> = {}): Deps => ({
  getRun: async () => undefined,
  runEnded: async () => 'taken',
  runSeen: async () => 'taken',
  reported: new ReportedRuns(),
  ownRuns: new OwnRuns(),
  log: pino({ level: 'silent' }),
  ...own,
});

export const opened = (own: Partial<Deps> = {}): Promise<Receiver> =>
  openReceiver({ secret: SECRET, ...handling(own) }, { host: '127.0.0.1', port: 0 });
