// All rules and cases, in the order of the specification.

import type { Case } from './case.ts';
import { ENDPOINT_CASES } from './cases/endpoints.ts';
import { ERROR_CASES } from './cases/errors.ts';
import { FILE_CASES } from './cases/files.ts';
import { RUN_STATE_CASES } from './cases/run-states.ts';
import { LIST_CASES } from './cases/lists.ts';
import { RUN_CASES } from './cases/run.ts';
import { VERSION_CASES } from './cases/versions.ts';
import { WEBHOOK_CASES } from './cases/webhooks.ts';
import type { Flavour, Rule } from './rule.ts';
import { ENDPOINT_RULES } from './rules/endpoints.ts';
import { ERROR_RULES } from './rules/errors.ts';
import { FILE_RULES } from './rules/files.ts';
import { RUN_STATE_RULES } from './rules/run-states.ts';
import { LIST_RULES } from './rules/lists.ts';
import { QUEUE_REQUEST_RULES } from './rules/queue-request.ts';
import { RUN_RULES } from './rules/run.ts';
import { VERSION_RULES } from './rules/versions.ts';
import { WEBHOOK_RULES } from './rules/webhooks.ts';

export const RULES: readonly Rule[] = [
  ...RUN_RULES,
  ...ENDPOINT_RULES,
  ...QUEUE_REQUEST_RULES,
  ...ERROR_RULES,
  ...VERSION_RULES,
  ...RUN_STATE_RULES,
  ...WEBHOOK_RULES,
  ...LIST_RULES,
  ...FILE_RULES,
];

export const CASES: readonly Case[] = [
  ...RUN_CASES,
  ...ENDPOINT_CASES,
  ...ERROR_CASES,
  ...VERSION_CASES,
  ...RUN_STATE_CASES,
  ...WEBHOOK_CASES,
  ...LIST_CASES,
  ...FILE_CASES,
];

/** The rules and cases of a flavour. */
export const inFlavour = <Item extends { readonly only?: Flavour }>(
  items: readonly Item[],
  flavour: Flavour,
): readonly Item[] => items.filter(({ only }) => only === undefined || only === flavour);

export const casesOf = (rule: Rule): readonly Case[] => CASES.filter(({ rules }) => rules.includes(rule.id));
