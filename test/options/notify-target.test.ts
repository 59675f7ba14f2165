import { describe, expect, it } from 'vitest';
import { readTarget } from '../../src/options/notify-target.ts';

describe('a target of notifications', () => {
  it.each([
    ['https://example.org/hook/7', { kind: 'https', url: 'https://example.org/hook/7' }],
    ['https://example.org', { kind: 'https', url: 'https://example.org' }],
    ['http://127.0.0.1:8080/x', { kind: 'https', url: 'http://127.0.0.1:8080/x' }],
    ['https:ops', { kind: 'named', name: 'ops' }],
    ['slack:', { kind: 'slack', name: 'default' }],
    ['slack:ops', { kind: 'slack', name: 'ops' }],
    ['mailto:me+gpu@example.org', { kind: 'mailto', address: 'me+gpu@example.org' }],
    ['exec:/home/me/tell.sh', { kind: 'exec', path: '/home/me/tell.sh' }],
  ])('is read: %s', (text, target) => expect(readTarget(text)).toEqual(target));

  it.each([
    ['https://example.org/hook?token=abc', 'RUNSHEET_NOTIFY_URL'],
    ['https://me:password@example.org/', 'RUNSHEET_NOTIFY_URL'],
    ['https://discord.com/api/webhooks/1/aB3dE5fG7hI9jK1lM3nO5', 'RUNSHEET_NOTIFY_URL'],
    ['https://hooks.slack.com/services/T/B/x', 'RUNSHEET_SLACK_WEBHOOK'],
    ['slack:https://hooks.slack.com/services/T/B/x', 'RUNSHEET_SLACK_WEBHOOK'],
  ])('that contains a secret is refused, with the setting for it: %s', (text, setting) => {
    expect(readTarget(text)).toMatchObject({
      wrong: expect.any(String),
      hint: expect.stringContaining(setting),
    });
  });

  it.each(['sh', 'bash', 'dash', 'zsh', 'pwsh', 'powershell.exe', 'busybox', 'python3.12', 'node', 'env'])(
    'is no shell and no interpreter, which would obey a name such as $(reboot): %s',
    (program) => {
      for (const folder of ['/bin', '/opt/my tools'])
        expect(readTarget(`exec:${folder}/${program}`)).toMatchObject({
          wrong: expect.stringContaining('obey'),
          hint: expect.any(String),
        });
    },
  );

  it.each(['/home/me/push', '/home/me/push.sh', '/home/me/notify.py', '/bin/sh/tell'])(
    'is a program of the user, also with such letters in its name: %s',
    (path) => expect(readTarget(`exec:${path}`)).toEqual({ kind: 'exec', path }),
  );

  it.each([
    'ftp://example.org',
    'nothing',
    'https:',
    'https:///x',
    'http://example.org/plain',
    'slack:two words',
    'mailto:nobody',
    'mailto:a@b,c@d',
    'mailto:a@b\r\nBcc: c@d',
    'exec:tell.sh',
    `https://example.org/${'a/'.repeat(200)}`,
  ])('of another form is refused: %s', (text) => {
    expect(readTarget(text)).toMatchObject({ wrong: expect.any(String), hint: expect.any(String) });
  });
});
