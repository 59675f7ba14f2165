// What Temporal's UI shows of a batch from its start on, and what the batch is found by.

import { SUMMARY_BYTES } from './activity-summary.ts';
import { clippedAtWord } from '../../options/clipped.ts';

/** A line, and Markdown, both encrypted like all payloads; and what is never encrypted. */
export type ShownBatch = {
  readonly summary: string;
  readonly details: string;
  readonly search: SearchedBatch;
};

export type SearchedBatch = { readonly deployment: string; readonly sheet: string; readonly rows: number };

/** The part of batch.json that is shown. */
type Described = {
  readonly batch: string;
  readonly sheet: { readonly name: string; readonly rows: number };
  readonly deployment: { readonly id: string; readonly name?: string | undefined };
  readonly service: { readonly base: string };
  readonly createdAt: string;
};

const count = (number: number): string => number.toLocaleString('en-US');

export function shownBatch({ batch, sheet, deployment, service, createdAt }: Described): ShownBatch {
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
