import { expect, it } from 'vitest';
import { html } from '../../src/service/pages/html.ts';

it('inserted values are escaped, inserted markup is kept, and missing values are empty', () => {
  const inner = html`<b>${'<&>'}</b>`;
  const markup = html`<p title="${'"\''}">${inner}${[inner, 7]}${false}${undefined}</p>`.markup;
  expect(markup).toBe('<p title="&quot;&#39;"><b>&lt;&amp;&gt;</b><b>&lt;&amp;&gt;</b>7</p>');
});
