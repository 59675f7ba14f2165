// Fields that the contract of the Comfy API v2 leaves optional, missing with others; each alone: api-optional-fields.long.test.ts.

import { describe, expect, it } from 'vitest';
import { openApiScene } from './api-scene.ts';
import { dropped, MODES, NAMES, runsWithoutFields } from './optional-fields.ts';
import { portrait } from './own-service.ts';

const WITH_OTHERS = 4;

// Every field is missing once with a few others, and once with all.
runsWithoutFields([
  ...Array.from({ length: Math.ceil(NAMES.length / WITH_OTHERS) }, (_, at) =>
    NAMES.slice(at * WITH_OTHERS, (at + 1) * WITH_OTHERS),
  ),
  NAMES,
]);

describe.each(MODES)('without optional fields, a %s', (mode) => {
  it('that is full or has no credits left loses no run', async () => {
    const { own, api } = await openApiScene(mode, portrait());
    api.altersBody = (body) => dropped(body, new Set(NAMES));
    for (const refuses of [402, 429] as const) {
      api.refuses = refuses;
      const id = await own.queue({});
      await own.until(id, ({ live_status }) => live_status?.includes(`answered ${refuses}`) === true);
      api.refuses = undefined;
      expect((await own.until(id)).status).toBe('success');
    }
  });
});
