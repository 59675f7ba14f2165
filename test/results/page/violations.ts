// The violations of the rules of accessibility on a page, as axe-core judges them.

import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Each rule with the places that violate it. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => id + ': ' + target + ' ' + (any[0]?.message ?? ''))))`);
}
