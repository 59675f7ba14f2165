// The parts of the column beside the enlarged picture.

import { button, copyButton, make, newTab, section, termList } from './dom.js';
import { dateOf, joined, money, size, span } from './text.js';

/** @import { ShownRow } from '../report-row.ts' */
/** @import { Choice, Pick } from './picks.js' */

/** @type {(pick: Pick, choose: (choice: Choice) => void) => HTMLElement} */
export function pickBar({ mark, stars = 0 }, choose) {
  const one = (
    /** @type {Choice} */ choice,
    /** @type {string} */ key,
    /** @type {string} */ label,
    /** @type {boolean} */ isOn,
  ) =>
    button(
      typeof choice === 'number' ? 'star' : 'button',
      () => choose(choice),
      { title: `key ${key}`, 'aria-pressed': isOn, 'aria-label': label },
      typeof choice === 'number' ? '★' : label,
    );
  return make('div.wrap', { role: 'group', 'aria-label': 'Your choice' }, [
    one('picked', 'P', 'Pick', mark === 'picked'),
    one('rejected', 'X', 'Reject', mark === 'rejected'),
    ...[1, 2, 3, 4, 5].map((star) => one(star, `${star}`, `${star} of 5 stars`, star <= stars)),
  ]);
}

/** @type {(title: string, cells: readonly (readonly [name: string, value: string])[]) => HTMLElement} */
export function cellList(title, cells) {
  const shown = cells.filter(([, value]) => value !== '');
  const list = termList('cells.lined', shown);
  for (const [nth, term] of [...list.querySelectorAll('dt')].entries()) {
    const [name = '', value = ''] = shown[nth] ?? [];
    const copy = copyButton('Copy', value, 'link');
    copy.setAttribute('aria-label', `Copy ${name}`);
    term.append(copy);
  }
  return section(title, list);
}

/** @param {ShownRow['attempts']} attempts */
export const attemptList = (attempts) =>
  section(attempts.length === 1 ? 'Attempt' : 'Attempts', make('ol.lined', attempts.map(attemptItem)));

/** @param {ShownRow['attempts'][number]} attempt */
function attemptItem({ attempt, outcome, gpu_used, cost_usd = 0, reason, run_id, ended_at, ...took }) {
  const known = (/** @type {string} */ name, /** @type {number | undefined} */ seconds = 0) =>
    seconds > 0 ? `${name} ${span(seconds)}` : '';
  const facts = joined([
    gpu_used,
    known('queued', took.queue_seconds),
    known('cold start', took.cold_start_seconds),
    known('ran', took.run_seconds),
    cost_usd > 0 ? money(cost_usd) : '',
  ]);
  return make(
    'li',
    make('p', make(`b.tone.${outcome}`, `${attempt}. ${outcome}`), ` ${facts}`),
    reason && outcome !== 'succeeded' && make('p.note', reason),
    make('p.note', joined([run_id, ended_at && dateOf(ended_at)])),
  );
}

/** @param {ShownRow['files']} files */
export const fileList = (files) =>
  section(
    files.length === 1 ? 'File' : 'Files',
    make(
      'ul.note',
      files.map(({ path, bytes, name }) =>
        make('li', newTab(path, 'name', path), ` ${size(bytes)} · ${name}`),
      ),
    ),
  );
