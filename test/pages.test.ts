// The pages name everything that users can meet.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAUSE_KINDS } from '../src/batch/pausing/pause-kinds.ts';
import { onBatches } from '../src/cli/batch/batch-commands.ts';
import { MALFORMED_RESPONSES, OTHER_FAULTS } from '../src/service/faults.ts';

const page = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');

describe('the pages', () => {
  it.each(PAUSE_KINDS)('name the pause %s, when it starts, when it ends, and what to do', (kind) => {
    expect(page('docs/states.md')).toMatch(new RegExp(`^\\| \`${kind}\``, 'm'));
    expect(page('docs/operations.md')).toMatch(new RegExp(`^\\| paused, \`${kind}\``, 'm'));
  });

  it.each(Object.keys(onBatches))('name the command %s in the README', (command) => {
    expect(page('README.md')).toMatch(new RegExp(`^\\|.*\`${command}\`.*\\|`, 'm'));
  });

  it.each([...Object.keys(OTHER_FAULTS), ...Object.keys(MALFORMED_RESPONSES)])(
    'name the fault %s',
    (fault) => {
      expect(page('docs/local-service.md')).toMatch(new RegExp(`\`${fault}(-\\w+)?\``));
    },
  );
});
