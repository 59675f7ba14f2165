// Exports of ordinary programs, with one of their columns as the prompt: their other columns are data, and no question takes one for
// a setting, a text, a picture or a number of runs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { InputType } from '../../../src/service-client/contract/deployment.ts';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

type DeclaredInputs = { readonly name: string; readonly inputTypes: InputType[] };
const DEPLOYMENTS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../printed/sheets/deployments.json'), 'utf8'),
) as readonly DeclaredInputs[];
const T2I = DEPLOYMENTS.find(({ name }) => name === 't2i')?.inputTypes;

/** The export of a program → the column with a text for a picture. */
const EXPORTS = [
  ['airtable-content', 'Hook'],
  ['ebay-listings', '*Description'],
  ['etsy-listings', 'DESCRIPTION'],
  ['figma-tokens', 'Description'],
  ['ga4-pages', 'Page title'],
  ['github-issues', 'body'],
  ['google-contacts', 'Notes'],
  ['google-forms', 'Describe the picture that you would like'],
  ['hubspot-contacts', 'Message'],
  ['jira-issues', 'Description'],
  ['mailchimp-audience', 'NOTES'],
  ['notion-database', 'Idea'],
  ['salesforce-leads', 'Description'],
  ['shopify-orders', 'Lineitem name'],
  ['stripe-payments', 'Description'],
  ['trello-cards', 'Card Description'],
  ['typeform-responses', 'What should we paint for you?'],
  ['woocommerce-products', 'Short description'],
  ['youtube-studio', 'Video title'],
  ['zendesk-tickets', 'Subject'],
] as const;

/** Columns that do say which rows are done, or wanted. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  'github-issues': ['state', 'isPullRequest'],
  'hubspot-contacts': ['Lead Status', 'Marketing contact status'],
  'jira-issues': ['Status'],
  'notion-database': ['Status'],
  'salesforce-leads': ['Lead Status', 'Converted'],
  'shopify-orders': ['Financial Status', 'Fulfillment Status', 'Accepts Marketing'],
  'stripe-payments': ['Status', 'Captured'],
  'woocommerce-products': ['Published', 'Is featured?', 'Visibility in catalog', 'In stock?'],
  'zendesk-tickets': ['Status'],
};

it.each(EXPORTS)('%s is asked about its states alone', async (name, column) => {
  const text = readFileSync(join(import.meta.dirname, 'exports', `${name}.csv`), 'utf8');
  const renamed = text.replace(column, 'prompt');
  for (const [csv, map] of [
    [text, { prompt: column }],
    [renamed, {}],
  ] as const) {
    const { guesses } = await read(`${name}.csv`, csv, { map }, { inputTypes: T2I });
    const questions = guesses.filter((guess) => guess.startsWith('? '));
    expect(questions).toEqual(
      (STATES[name] ?? []).map((state) =>
        expect.stringContaining(`all rows run, whatever column "${state}"`),
      ),
    );
  }
});

it.each([
  ['Website', 'https://quay.example,https://fjord.example', false],
  ['Website', 'https://quay.example/a.png,https://fjord.example', true],
  ['Photo', 'https://quay.example/a1,https://fjord.example/a2', true],
  ['Mode', 'Light,Dark', false],
  ['Mod', 'Light,Dark', true],
  ['Resolution', 'Fixed,', false],
  ['Resolution', '2k,4k', true],
])('a column %s of %s is asked: %s', async (name, cells, isAsked) => {
  const inputTypes = [
    input('prompt', 'string', { required: true }),
    input('end_image', 'image'),
    input('model', 'string'),
  ];
  const rows = cells.split(',').map((cell, at) => `fox ${at},${cell}\n`);
  const { guesses } = await read('a.csv', `prompt,${name}\n${rows.join('')}`, {}, { inputTypes });
  expect(guesses.filter((guess) => guess.startsWith('? '))).toHaveLength(isAsked ? 1 : 0);
});
