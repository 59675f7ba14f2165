// Puts the page together, by what it carries.

import { startComparison } from './compare.js';
import { startPipeline } from './pipeline.js';
import { startReport } from './report.js';

const facts = JSON.parse(document.getElementById('data')?.textContent ?? '');
const page = /** @type {HTMLElement} */ (document.getElementById('page'));
const start = 'sums' in facts ? startComparison : 'stages' in facts ? startPipeline : startReport;
void start(facts, page).then(() => {
  document.documentElement.dataset['ready'] = 'true';
});
