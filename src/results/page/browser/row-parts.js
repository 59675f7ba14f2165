// The parts of the column beside the enlarged picture.

import { button, copyButton, make } from './dom.js';
import { dateOf, money, size, span } from './text.js';

/** @import { Detail } from './details.js' */

/**
 * @param {import('./picks.js').Pick} pick
 * @param {(choice: 'picked' | 'rejected' | number) => void} choose
 */
export function pickBar({ mark, stars = 0 }, choose) {
  const bar = make('div', { className: 'pick-bar', role: 'group', 'aria-label': 'Your choice' });
  /** @type {[string, string, 'picked' | 'rejected' | number, boolean][]} */
  const choices = [
    ['Pick', 'P', 'picked', mark === 'picked'],
    ['Reject', 'X', 'rejected', mark === 'rejected'],
    ...[1, 2, 3, 4, 5].map(
      (star) => /** @type {[string, string, number, boolean]} */ (['★', String(star), star, star <= stars]),
    ),
  ];
  for (const [label, key, choice, isOn] of choices) {
    const one = button(label, () => choose(choice), typeof choice === 'number' ? 'star' : 'button');
    one.setAttribute('aria-pressed', String(isOn));
    one.setAttribute('aria-label', typeof choice === 'number' ? `${choice} of 5 stars` : label);
    one.title = `key ${key}`;
    bar.append(one);
  }
  return bar;
}

/**
 * @param {string} title
 * @param {Record<string, string>} cells
 */
export function cellList(title, cells) {
  const list = make('dl', 'cells');
  for (const [name, value] of Object.entries(cells).filter((cell) => cell[1] !== '')) {
    const copy = copyButton('Copy', value);
    copy.className = 'copy';
    copy.setAttribute('aria-label', `Copy ${name}`);
    list.append(make('div', '', make('dt', '', name, copy), make('dd', '', value)));
  }
  return make('section', { hidden: list.children.length === 0 }, make('h3', '', title), list);
}

/** @param {Record<string, any>[]} attempts */
export function attemptList(attempts) {
  const list = make('ol', 'attempts');
  for (const one of attempts) {
    const {
      attempt,
      outcome,
      gpu_used,
      queue_seconds,
      cold_start_seconds,
      run_seconds,
      cost_usd,
      reason,
      run_id,
      ended_at,
    } = one;
    const facts = [
      gpu_used,
      queue_seconds > 0 ? `queued ${span(queue_seconds)}` : undefined,
      cold_start_seconds > 0 ? `cold start ${span(cold_start_seconds)}` : undefined,
      run_seconds > 0 ? `ran ${span(run_seconds)}` : undefined,
      cost_usd > 0 ? money(cost_usd) : undefined,
    ].filter(Boolean);
    list.append(
      make(
        'li',
        '',
        make('p', '', make('b', outcome, `${attempt}. ${outcome}`), ` ${facts.join(' · ')}`),
        ...(reason === undefined || outcome === 'succeeded' ? [] : [make('p', 'note', reason)]),
        make(
          'p',
          'note',
          [run_id, ended_at === undefined ? '' : dateOf(ended_at)].filter(Boolean).join(' · '),
        ),
      ),
    );
  }
  return make('section', '', make('h3', '', attempts.length === 1 ? 'Attempt' : 'Attempts'), list);
}

/** @param {Detail['files']} files */
export function fileList(files) {
  const list = make('ul', 'file-list');
  for (const { path, bytes, name } of files)
    list.append(
      make(
        'li',
        '',
        make('a', { href: path, target: '_blank', rel: 'noopener' }, path),
        make('span', 'note', ` ${size(bytes)} · ${name}`),
      ),
    );
  return make('section', '', make('h3', '', files.length === 1 ? 'File' : 'Files'), list);
}
