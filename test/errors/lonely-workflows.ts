// The workflows of an application that forgot to export ours.

import { runBatch, type BatchSummary } from '../../workflows/run-batch.ts';

export const lonely = (sheet: string): Promise<BatchSummary> => runBatch({ sheet, deployment: 'portraits' });
