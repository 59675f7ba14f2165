import { describe, expect, it } from 'vitest';
import { connectRunService, type FileToSend } from '../../src/service-client/client.ts';
import { answer, scripted, type Act } from './scripted.ts';

const STORED = JSON.stringify({
  message: 'ok',
  file_id: '1',
  file_name: 'a',
  file_url: 'https://a.example/a.png',
});

const file = (content = 'picture', more: Partial<FileToSend> = {}): FileToSend => ({
  name: 'a.png',
  bytes: content.length,
  async *open() {
    yield Buffer.from(content);
  },
  ...more,
});

const service = (act: Act) => scripted(connectRunService, act);

/** Answers when the whole form has arrived. */
const onForm =
  (...answers: readonly string[]): Act =>
  (socket, request) => {
    if (request.includes('--\r\n')) socket.write(answers[sent++ % answers.length] ?? '');
  };
let sent = 0;

describe('a file that is sent', () => {
  it('is a form with the type of its name, and gets the address that the service says', async () => {
    sent = 0;
    const { sendFile, requests } = await service(onForm(answer(200, STORED)));
    expect(await sendFile(file('picture', { name: 'a"\r\nb.webp' }))).toBe('https://a.example/a.png');
    const form = requests.join('');
    expect(form).toContain('POST /api/file/upload');
    expect(form).toContain(
      'name="file"; filename="a___b.webp"\r\ncontent-type: image/webp\r\n\r\npicture\r\n--',
    );
  });

  it('is sent again while the service is busy or fails', async () => {
    sent = 0;
    const { sendFile } = await service(onForm(answer(503, 'later'), answer(200, STORED)));
    expect(await sendFile(file())).toBe('https://a.example/a.png');
    expect(sent).toBe(2);
  });

  it('has no address if the service takes no files', async () => {
    sent = 0;
    const { sendFile } = await service(onForm(answer(404, '{"detail":"Not Found"}')));
    expect(await sendFile(file())).toBeUndefined();
  });

  it.each([
    [401, 'E301'],
    [400, 'E304'],
  ])('is refused with %i as %s', async (status, code) => {
    sent = 0;
    const { sendFile } = await service(onForm(answer(status, '{"detail":"Unsupported file type"}')));
    await expect(sendFile(file())).rejects.toMatchObject({ code });
    expect(sent).toBe(1);
  });

  it('that cannot be read fails with its own error, and is no upload', async () => {
    sent = 0;
    const { sendFile } = await service(onForm(answer(200, STORED)));
    // oxlint-disable-next-line require-yield
    const open = async function* (): AsyncGenerator<Uint8Array> {
      throw new Error('the file has changed');
    };
    await expect(sendFile(file('picture', { open }))).rejects.toThrow('the file has changed');
    expect(sent).toBe(0);
  });
});
