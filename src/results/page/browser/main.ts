// Draws the page whose facts the document carries.

import type { ComparisonFacts } from '../comparison-page.ts';
import type { PipelineFacts } from '../pipeline-page.ts';
import type { ReportFacts } from '../report.ts';
import { startComparison } from './comparison-view.tsx';
import { startPipeline } from './pipeline-view.tsx';
import { startReport } from './report-view.tsx';

type Facts = ComparisonFacts | PipelineFacts | ReportFacts;

const facts = JSON.parse(document.getElementById('data')?.textContent ?? '') as Facts;

async function start(page: HTMLElement): Promise<void> {
  if ('sums' in facts) await startComparison(facts, page);
  else if ('stages' in facts) startPipeline(facts, page);
  else await startReport(facts, page);
  document.documentElement.dataset['ready'] = 'true';
}

void start(document.getElementById('page') as HTMLElement);
