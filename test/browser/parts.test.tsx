// The small parts of the pages, drawn into a document without a browser.

import { parseHTML } from 'linkedom';
import { render, type ComponentChildren } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Chips, Lines } from '../../src/results/page/browser/view-parts.tsx';

describe('the parts of a page', () => {
  let page: HTMLElement;
  const draw = (content: ComponentChildren): void => render(content, page);
  const texts = (selector: string): readonly (string | null)[] =>
    [...page.querySelectorAll(selector)].map(({ textContent }) => textContent);

  beforeEach(() => {
    const { document } = parseHTML('<html><body><div id="page"></div></body></html>');
    vi.stubGlobal('document', document);
    page = document.querySelector('#page') as unknown as HTMLElement;
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('chips say how many rows each choice shows, which one is chosen, and take a click', () => {
    const choose = vi.fn<(value: string) => void>();
    const chips = [
      ['', 'All', 1_200],
      ['failed', 'failed', 3],
    ] as const;
    draw(<Chips label="Outcome" chips={chips} chosen="failed" choose={choose} isOutcome />);
    expect(texts('button')).toEqual(['All 1,200', 'failed 3']);
    const [every, failed] = page.querySelectorAll('button');
    expect([every, failed].map((button) => button?.getAttribute('aria-pressed'))).toEqual(['false', 'true']);
    // Only outcomes have a colour; the choice of all rows has none.
    expect(page.querySelectorAll('i')).toHaveLength(1);
    every?.dispatchEvent(new (every.ownerDocument.defaultView as Window & typeof globalThis).Event('click'));
    expect(choose.mock.calls).toEqual([['']]);
  });

  it('cells of a table show markup as text', () => {
    const hostile = '<img src=x onerror="alert(1)">';
    draw(<Lines heads={['', hostile]} lines={[['GPU', { text: hostile, outcome: 'failed' }]]} />);
    expect(texts('thead th, tbody td')).toEqual([hostile, hostile]);
    expect(page.querySelectorAll('img')).toHaveLength(0);
  });
});
