// Decides what is notified: the end of the batch, many rows without success, a pause, and half of --max-cost spent.
// A pass notifies each of these once, and each kind of pause separately. A change by the user allows another
// notification (`notifyAgain`). A batch without targets notes nothing, so a target that is added later learns what
// still holds.

import { NOTIFY_FAILED } from '../../options/bounds-and-defaults.ts';
import { type Command } from '../commands.ts';
import { RESULTS, type Event, note } from '../events.ts';
import { spentNano } from '../sending-limits/budget.ts';
import type { Pause, PauseKind } from '../pausing/pause-kinds.ts';
import type { Notice } from '../notices/notice.ts';
import type { State } from '../state/state.ts';
import { isReached } from './pause-for-failures.ts';
import { dueIf, type Decision } from './decision.ts';
import type { LimitChange } from '../../options/limits.ts';

export const notify: Decision = {
  dueAt: (state) => dueIf(hasNews(state) || waiting(state).length > 0),
  act: (state) => {
    const { notify: targets = [] } = state.params;
    for (const news of newsOf(state)) {
      state.notified = [...state.notified, nameOf(news)];
      for (const to of targets) add(state, { ...news, to });
    }
    const due = waiting(state);
    state.notifying = new Set([...state.notifying, ...due.map(({ number }) => number)]);
    return due.map((notice): Command => ({ type: 'notify', notice }));
  },
};

type News = Pick<Notice, 'news' | 'pause'>;

/** The name under which the state remembers the notification. */
export const nameOf = ({ news, pause }: News): string =>
  pause === undefined ? news : `${news}:${pause.kind}`;

const hasNews = (state: State): boolean => newsOf(state).length > 0;

function newsOf(state: State): readonly News[] {
  const { params, notified, isClosed } = state;
  if (params.notify === undefined || params.notify.length === 0) return [];
  if (isClosed) return notified.includes('done') ? [] : [{ news: 'done' }];
  const due: News[] = [...state.pauses].map(([kind, paused]) => pausedBy(kind, paused));
  if (isReached(state, params.notifyFailed ?? NOTIFY_FAILED)) due.push({ news: 'failures' });
  if (params.maxCostNano !== undefined && spentNano(state) >= params.maxCostNano / 2)
    due.push({ news: 'half-budget' });
  return due.filter((news) => !notified.includes(nameOf(news)));
}

const pausedBy = (kind: PauseKind, { reason, places }: Pause): News => ({
  news: 'paused',
  pause: { kind, reason, ...(places === undefined ? {} : { places }) },
});

/** Notifications to send, including those whose activity an earlier workflow run had started. */
const waiting = ({ notices, notifying }: State): readonly Notice[] =>
  notices.filter(({ number }) => !notifying.has(number));

function add(state: State, news: News & Pick<Notice, 'to'>): void {
  const { nextNotice: number, wallAt: at, pass } = state;
  state.notices = [...state.notices, { number, ...news, at, pass }];
  state.nextNotice += 1;
}

// Handles the end of a notification, and ends the batch when its results are written and no notification is left. A
// failed delivery only becomes an entry of the log.
export function onNotified(state: State, { number, reason }: Extract<Event, { type: 'notified' }>): void {
  const notice = state.notices.find((pending) => pending.number === number);
  if (notice === undefined) return;
  state.notices = state.notices.filter((pending) => pending !== notice);
  state.notifying = new Set([...state.notifying].filter((sending) => sending !== number));
  const { news, to, pause } = notice;
  note(state, {
    event: reason === undefined ? 'notified' : 'not-notified',
    kind: pause?.kind,
    reason,
    note: `${news} to ${to}`,
  });
  finishWhenNotified(state);
}

/** Ends the batch once the results are in the store, unless they lack something that happened since. */
export function finishWhenNotified(state: State): void {
  if (!state.isClosed) return;
  if (state.isEvidenceNew) {
    state.isClosed = false;
    state.unstored.add(RESULTS);
  } else if (!hasNews(state) && state.notices.length + state.log.length + state.loggingNow === 0)
    state.finished = true;
}

/** Gives up the log, because the store takes no more entries. */
export function dropLog(state: State): void {
  state.log.length = 0;
  state.loggingNow = 0;
  finishWhenNotified(state);
}

/**
 * A change by the user allows another notification: of half a new budget, of a new share of failures, and after a
 * resume of each pause.
 */
export function notifyAgain(state: State, limits: LimitChange, pauses?: 'pauses'): void {
  const isOver = (name: string): boolean =>
    (name === 'half-budget' && limits.maxCostNano !== undefined) ||
    (name === 'failures' && limits.notifyFailed !== undefined) ||
    (name.startsWith('paused:') && pauses !== undefined);
  state.notified = state.notified.filter((name) => !isOver(name));
}
