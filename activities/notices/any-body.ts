// The bodies of notifications.

import type { NoticeBody } from '../../src/store/notice-body.ts';
import type { ScheduleNoticeBody } from '../../src/store/schedule-notice-body.ts';

export type AnyBody = NoticeBody | ScheduleNoticeBody;
