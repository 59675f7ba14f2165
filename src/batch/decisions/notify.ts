// Decides what is notified: that the batch is done, that many rows end without success, that it is paused, and that half of
// --max-cost is spent. Each is notified once in a pass, each kind of pause too. What a user has changed since may be notified
// again (`notifyAgain`). A batch without targets notes nothing, so a target that is added learns of what still holds.

import { NOTIFY_FAILED } from '../../options/bounds.ts';
import { type Command } from '../commands.ts';
import { RESULTS, type Event, note } from '../events.ts';
import { spentNano } from '../sending-limits/budget.ts';
import type { Pause, PauseKind } from '../pausing/pause-kinds.ts';
import type { Notice } from '../notices/notice.ts';
import type { State } from '../state/state.ts';
import { isReached } from './pause.ts';
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

/** How the state remembers that it was notified. */
export const nameOf = ({ news, pause }: News): string =>
  pause === undefined ? news : `${news}:${pause.kind}`;

const hasNews = (state: State): boolean => newsOf(state).length > 0;

function newsOf(state: State): readonly News[] {
  const { params, notified, isClosed } = state;
  if (params.notify === undefined || params.notify.length === 0) return [];
  if (isClosed) return notified.includes('done') ? [] : [{ news: 'done' }];
  const all: News[] = [...state.pauses].map(([kind, one]) => pausedBy(kind, one));
  if (isReached(state, params.notifyFailed ?? NOTIFY_FAILED)) all.push({ news: 'failures' });
  if (params.maxCostNano !== undefined && spentNano(state) >= params.maxCostNano / 2)
    all.push({ news: 'half-budget' });
  return all.filter((news) => !notified.includes(nameOf(news)));
}

const pausedBy = (kind: PauseKind, { reason, places }: Pause): News => ({
  news: 'paused',
  pause: { kind, reason, ...(places === undefined ? {} : { places }) },
});

/** Also those whose activity an earlier workflow run has started. */
const waiting = ({ notices, notifying }: State): readonly Notice[] =>
  notices.filter(({ number }) => !notifying.has(number));

function add(state: State, news: News & Pick<Notice, 'to'>): void {
  const { nextNotice: number, wallAt: at, pass } = state;
  state.notices = [...state.notices, { number, ...news, at, pass }];
  state.nextNotice += 1;
}

// Handles the end of a notification, and ends the batch when its results are written and nothing is left to notify. A
// notification that could not be delivered is an entry of the log, and nothing more.
export function onNotified(state: State, { number, reason }: Extract<Event, { type: 'notified' }>): void {
  const notice = state.notices.find((one) => one.number === number);
  if (notice === undefined) return;
  state.notices = state.notices.filter((one) => one !== notice);
  state.notifying = new Set([...state.notifying].filter((one) => one !== number));
  const { news, to, pause } = notice;
  note(state, {
    event: reason === undefined ? 'notified' : 'not-notified',
    kind: pause?.kind,
    reason,
    note: `${news} to ${to}`,
  });
  finishWhenNotified(state);
}

/** The results are in the store, so the batch ends, unless something happened since that they lack. */
export function finishWhenNotified(state: State): void {
  if (!state.isClosed) return;
  if (state.isEvidenceNew) {
    state.isClosed = false;
    state.unstored.add(RESULTS);
  } else if (!hasNews(state) && state.notices.length + state.log.length + state.loggingNow === 0)
    state.finished = true;
}

/** The store takes no entries of the log any more. */
export function dropLog(state: State): void {
  state.log.length = 0;
  state.loggingNow = 0;
  finishWhenNotified(state);
}

/** What a user has changed may be notified again: half of another budget, another share, and after a resume each pause. */
export function notifyAgain(state: State, limits: LimitChange, pauses?: 'pauses'): void {
  const isOver = (name: string): boolean =>
    (name === 'half-budget' && limits.maxCostNano !== undefined) ||
    (name === 'failures' && limits.notifyFailed !== undefined) ||
    (name.startsWith('paused:') && pauses !== undefined);
  state.notified = state.notified.filter((name) => !isOver(name));
}
