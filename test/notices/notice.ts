// A sample notification, and the activity that sends it.

import { MockActivityEnvironment } from '@temporalio/testing';
import { createWork } from '../../activities/index.ts';
import type { NoticeSettings } from '../../src/notices/deliver.ts';
import { begin } from '../../src/batch/state/state.ts';
import type { Notice } from '../../src/batch/notices/notice.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { noticeBody, type NoticeBody } from '../../src/notices/notice-body.ts';
import { paramsOf } from '../batch/params.ts';
import { depsOf, MARK, REF } from '../activities/deps.ts';

export const SETTINGS: NoticeSettings = {
  secret: undefined,
  urls: new Map(),
  slack: new Map(),
  smtp: undefined,
  mailFrom: undefined,
  programs: [],
  mayStart: () => false,
  environment: {},
};

export const noticeTo = (to: string, more: Partial<Notice> = {}): Notice => ({
  number: 3,
  news: 'done',
  to,
  at: Date.UTC(2026, 10, 22),
  pass: 1,
  ...more,
});

const FILE = {
  batch: 'b',
  mark: MARK,
  sheet: { name: 'portraits.csv', rows: 3 },
  deployment: { id: 'd', name: 'portrait-v3' },
  service: { prices: {} },
} as unknown as BatchFile;

const PROGRESS = progress(
  begin(paramsOf({ batch: 'b', rows: 3, maxCostNano: 2e9, attemptCostNano: { '': 2e9 } }), 1, 0),
);

export const bodyOf = (notice: Notice, costs: Partial<Progress> = {}): NoticeBody =>
  noticeBody(FILE, notice, { ...PROGRESS, ...costs });

/** Sends a notification as a worker with these settings does. */
export async function send(notice: Notice, settings: Partial<NoticeSettings> = {}): Promise<void> {
  const open = { file: FILE, store: {}, service: { base: 'http://127.0.0.1:1/api' } };
  const deps = depsOf({ notices: { ...SETTINGS, ...settings } });
  const { notify } = createWork({ ...deps, open: async () => open as never });
  await new MockActivityEnvironment().run(notify, { ...REF, notice, progress: PROGRESS });
}
