// All cases, in the order of the specification.

import type { Case } from './case.ts';
import { ENDPOINT_CASES } from './cases/endpoints.ts';
import { ERROR_CASES } from './cases/errors.ts';
import { FILE_CASES } from './cases/files.ts';
import { RUN_STATE_CASES } from './cases/run-states.ts';
import { LIST_CASES } from './cases/lists.ts';
import { RUN_CASES } from './cases/run.ts';
import { VERSION_CASES } from './cases/versions.ts';
import { WEBHOOK_CASES } from './cases/webhooks.ts';

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
