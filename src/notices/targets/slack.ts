import type { AnyNoticeBody } from '../notice-body.ts';

/**
 * The text for an incoming webhook of Slack. Slack interprets <, > and &, and unless told otherwise `*`, `_`, names and
 * addresses.
 */
export const slackText = ({ text }: AnyNoticeBody): string =>
  JSON.stringify({ text: text.replace(/[&<>]/g, (character) => ENTITIES[character] as string), ...PLAIN });

const PLAIN = { mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false };

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
