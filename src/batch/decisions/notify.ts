// Decides what is notified: that the batch is done, that many rows end without success, that it is paused, and that half of
// --max-cost is spent. Each is notified once in a pass, each kind of pause too. What a user has changed since may be notified
// again (on-event/notified.ts). A batch without targets notes nothing, so a target that is added learns of what still holds.

import { NOTIFY_FAILED } from '../../options/bounds.ts';
import type { Command } from '../events.ts';
import { spentNano } from '../sending-limits/budget.ts';
import type { Pause, PauseKind, Notice } from '../pausing/pause-kinds.ts';
import type { State } from '../state/state.ts';
import { isReached } from './pause.ts';
import { dueIf, type Decision } from './decision.ts';

export const notify: Decision = {
  name: 'notify',
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

export const hasNews = (state: State): boolean => newsOf(state).length > 0;

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
