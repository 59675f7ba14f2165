// The bodies of notifications.

import type { NoticeBody } from './notice-body.ts';
import type { ScheduleNoticeBody } from './schedule-notice-body.ts';

export type AnyBody = NoticeBody | ScheduleNoticeBody;
