// Builds a page of this service: one file without external resources, and a content security policy that forbids them.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';

export type Page = { readonly markup: string; readonly policy: string };

/** `script` and `style` are inline; the policy allows only their hashes. */
export function pageOf(parts: {
  readonly title: string;
  readonly style: string;
  readonly body: Html;
  readonly script?: string;
}): Page {
  const { title, style, body, script } = parts;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        ${body} ${script !== undefined && new Html(`<script type="module">${script}</script>`)}
      </body>
    </html>`;
  const own = script === undefined ? [] : [`script-src ${sourceOf(script)}`, "connect-src 'self'"];
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(style)}`,
    "img-src 'self' data:",
    ...own,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { markup: page.markup, policy };
}

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

export const sendPage = (reply: FastifyReply, { markup, policy }: Page): FastifyReply =>
  reply
    .headers({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(markup);
