// What Temporal's UI shows of a batch from its start on.

import { SUMMARY_BYTES } from '../batch/activity-summary.ts';
import { clippedAtWord } from '../batch/clipped.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Shown } from '../temporal/batch-client.ts';

const count = (number: number): string => number.toLocaleString('en-US');

export function shownOf({ batch, sheet, deployment, service, createdAt }: BatchFile): Shown {
  const name = deployment.name ?? deployment.id;
  return {
    summary: clippedAtWord(`${count(sheet.rows)} rows · ${name} · ${sheet.name}`, SUMMARY_BYTES),
    details: [
      '| | |',
      '|---|---|',
      ...Object.entries({
        batch,
        sheet: sheet.name,
        rows: count(sheet.rows),
        deployment: name,
        service: service.base,
        created: createdAt,
      }).map(([what, value]) => `| ${what} | ${cell(value)} |`),
      '',
      `\`runsheet status ${batch}\` shows the progress, \`runsheet watch ${batch}\` follows it.`,
    ].join('\n'),
    search: { deployment: name, sheet: sheet.name, rows: sheet.rows },
  };
}

/** Names of sheets and deployments are no Markdown. */
const cell = (text: string): string => text.slice(0, 500).replaceAll(/[\\`*_[\]<>|\n\r]/g, String.raw`\$&`);
