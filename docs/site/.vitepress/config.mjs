// The pages as a site: links out of docs lead to the repository, and the menu is the list on the first page.

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig } from 'vitepress';

const REPOSITORY = 'https://github.com/runsheet/runsheet';

/** `- **Group**: [text](link) · [text](link)` on the first page. */
function menu() {
  const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  return [...page.matchAll(/^- \*\*(.+)\*\*: (.+)$/gm)].map(([, text, links]) => ({
    text,
    items: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, link]) => ({
      text: title,
      link: link.startsWith('../') ? `${REPOSITORY}/blob/main/${link.slice(3)}` : `/${link}`,
    })),
  }));
}

/** A link that leaves the pages leads to the repository. */
function toRepository(page, href) {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const target = posix.join('docs', posix.dirname(page), href);
  return /^docs\/[^#]*\.md(#|$)/.test(target) ? href : `${REPOSITORY}/blob/main/${target}`;
}

export default defineConfig({
  title: 'runsheet',
  description:
    'Runs every row of a spreadsheet as a GPU run, and never pays for the same row twice by accident.',
  srcDir: '..',
  srcExclude: ['api/**', 'api-reference/**', 'site/**'],
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  markdown: {
    // The anchors of GitHub, so that a link works in both places.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .trim()
          .replaceAll(' ', '-'),
    },
    config(markdown) {
      // Two braces in code are no expression of Vue.
      const { code_inline: code } = markdown.renderer.rules;
      markdown.renderer.rules.code_inline = (...given) => code(...given).replaceAll('{{', '&#123;&#123;');
      markdown.core.ruler.push('to-repository', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? []))
          if (token.type === 'link_open')
            token.attrSet('href', toRepository(env.relativePath, token.attrGet('href') ?? ''));
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: menu(),
    outline: 'deep',
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
