// What a worker needs to send notifications.

import type { NotifySettings } from '../host/notify-settings.ts';

export type NoticeSettings = NotifySettings & {
  /** Whether the user of this machine allowed the program. */
  readonly mayStart: (path: string) => boolean;
  /** The environment of programs, without our secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};
