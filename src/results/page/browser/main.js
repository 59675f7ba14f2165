// Puts the page together, by what it carries.

import { startComparison } from './compare.js';
import { startReport } from './report.js';

const facts = JSON.parse(document.getElementById('data')?.textContent ?? '');
const page = /** @type {HTMLElement} */ (document.getElementById('page'));
void ('sums' in facts ? startComparison(facts, page) : startReport(facts, page)).then(() => {
  document.documentElement.dataset['ready'] = 'true';
});
