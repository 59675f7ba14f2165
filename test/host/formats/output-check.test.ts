// The files that count as delivered (R32). A false alarm costs a run that was paid for, so the second table is the longer one.

import { describe, expect, it } from 'vitest';
import { outputCheck } from '../../../src/host/formats/output-check.ts';
import * as of from '../../results/outputs.ts';

async function faultOf(
  content: Buffer,
  name: string,
  type?: string,
  step = 1 << 16,
): Promise<string | undefined> {
  const check = outputCheck({ name, type });
  for (let at = 0; at < content.length; at += step) check.add(content.subarray(at, at + step));
  return check.fault();
}

const cut = (content: Buffer, by = 9): Buffer => content.subarray(0, -by);
const text = (words: string): Buffer => Buffer.from(words);
const UNKNOWN = Buffer.from('0001fe02ffee0102030405060708090a', 'hex');

describe('an output that is not delivered', () => {
  it.each([
    ['nothing', text(''), 'one.png', undefined, '0 bytes'],
    ['nothing, of an unknown kind', text(''), 'one.xyz', undefined, '0 bytes'],
    ['a sign-in page', of.HTML, 'one.png', undefined, 'HTML instead of PNG'],
    ['a sign-in page by its type', of.HTML, 'one', 'image/png', 'HTML instead of image/png'],
    ['a sign-in page without any promise', of.HTML, 'one', 'output', 'HTML instead of a file'],
    ['a sign-in page as numbers', of.HTML, 'w.safetensors', undefined, 'HTML instead of SAFETENSORS'],
    ['a sign-in page as JSON', of.HTML, 'one.json', undefined, 'HTML instead of JSON'],
    ['a sign-in page as a drawing', of.HTML, 'one.svg', undefined, 'HTML instead of SVG'],
    ['an error', of.ERROR_JSON, 'one.png', undefined, 'JSON instead of PNG'],
    ['an error by its type', of.ERROR_JSON, 'one.bin', 'image/png', 'JSON instead of image/png'],
    ['a WAV without two bytes', cut(of.WAV, 2), 'a.wav', undefined, 'the WAV is truncated'],
    ['an error as numbers', of.ERROR_JSON, 'w.safetensors', undefined, 'JSON instead of SAFETENSORS'],
    ['an error of S3', of.ERROR_XML, 'clip.mp4', undefined, 'XML instead of MP4'],
    ['an error of S3 without any promise', of.ERROR_XML, 'one', undefined, 'XML instead of a file'],
    ['words', text('not found'), 'a.mp3', undefined, 'text instead of MP3'],
    ['a picture as a video', of.PNG, 'clip.mp4', undefined, 'PNG instead of MP4'],
    ['a picture as a video by its type', of.PNG, 'clip', 'video/mp4', 'PNG instead of video/mp4'],
    ['a picture as text', of.PNG, 'a.txt', undefined, 'PNG instead of TXT'],
    ['a video as a picture', of.MP4, 'a.png', undefined, 'MP4 instead of PNG'],
    ['a sound as a video', of.WAV, 'a.mp4', undefined, 'WAV instead of MP4'],
    ['a picture as a sound', of.JPEG, 'a.wav', undefined, 'JPG instead of WAV'],
    ['a program as a picture', of.EXE, 'a.png', undefined, 'EXE instead of PNG'],
    ['noise as a picture', UNKNOWN, 'a.png', undefined, 'unknown bytes instead of PNG'],
    ['a truncated PNG', cut(of.PNG), 'a.png', undefined, 'the PNG is truncated'],
    ['a truncated PNG, whatever its name', cut(of.PNG), 'a.xyz', undefined, 'the PNG is truncated'],
    ['the beginning of a PNG', of.PNG.subarray(0, 16), 'a.png', undefined, 'the PNG is truncated'],
    ['a truncated JPEG with a preview', cut(of.JPEG), 'a.jpg', undefined, 'the JPEG is truncated'],
    ['a JPEG without a picture', of.JPEG.subarray(0, 24), 'a.jpg', undefined, 'the JPEG is truncated'],
    ['a truncated GIF', cut(of.GIF), 'a.gif', undefined, 'the GIF is truncated'],
    ['a truncated WEBP', cut(of.WEBP), 'a.webp', undefined, 'the WEBP is truncated'],
    ['a truncated WAV', cut(of.WAV), 'a.wav', undefined, 'the WAV is truncated'],
    ['a truncated MP4', cut(of.MP4), 'a.mp4', undefined, 'the MP4 is truncated'],
    ['an MP4 with its index first, truncated', cut(of.FAST_MP4), 'a.mp4', undefined, 'the MP4 is truncated'],
    ['an MP4 of more than 4 GiB, truncated', cut(of.LONG_MP4), 'a.mp4', undefined, 'the MP4 is truncated'],
    ['an MP4 without an index', of.UNFINISHED_MP4, 'a.mp4', undefined, 'the MP4 is truncated'],
    ['a truncated AVIF', cut(of.AVIF), 'a.avif', undefined, 'the AVIF is truncated'],
    ['a truncated GLB', cut(of.GLB), 'a.glb', undefined, 'the GLB is truncated'],
    ['a truncated ZIP', cut(of.ZIP, 30), 'a.zip', undefined, 'the ZIP is truncated'],
    ['a truncated PDF', cut(of.PDF), 'a.pdf', undefined, 'the PDF is truncated'],
  ])('is %s', async (_, content, name, type, fault) => {
    expect(await faultOf(content, name, type)).toBe(fault);
    expect(await faultOf(content, name, type, 7)).toBe(fault);
  });
});

describe('an output that is delivered', () => {
  const appended = (content: Buffer): Buffer =>
    Buffer.concat([content, text('\0appended by another program')]);
  it.each([
    ['a picture', of.PNG, 'a.png'],
    ['a picture in another format', of.JPEG, 'a.png'],
    ['a picture in a newer format', of.WEBP, 'a.jpg'],
    ['a picture with an appendix', appended(of.PNG), 'a.png'],
    ['a photo with an appendix', appended(of.JPEG), 'a.jpg'],
    ['an animation with an appendix', appended(of.GIF), 'a.gif'],
    ['a video with a box that we do not know', of.ODD_MP4, 'a.mp4'],
    ['a sound without its padding byte', cut(of.WAV, 1), 'a.wav'],
    ['JSON under a name without a promise', text('{"message":"a fox","error":null}'), 'a.bin'],
    ['an AVIF', of.AVIF, 'a.avif'],
    ['an animation as a video', of.GIF, 'a.mp4'],
    ['a video as an animation', of.MP4, 'a.gif'],
    ['a drawing', of.SVG, 'a.svg'],
    ['a picture under the name of a drawing', of.PNG, 'a.svg'],
    ['a drawing under the name of a picture', of.SVG, 'a.png'],
    ['a video', of.MP4, 'a.mp4'],
    ['a video in another container', of.WEBM, 'a.mp4'],
    ['a video of more than 4 GiB', of.LONG_MP4, 'a.mov'],
    ['a video with an appendix', appended(of.FAST_MP4), 'a.mp4'],
    ['a sound in the container of videos', of.MP4, 'a.m4a'],
    ['a video in the container of sounds', of.M4A, 'a.mp4'],
    ['a sound in WebM', of.WEBM, 'a.ogg'],
    ['a sound in Ogg', of.OGG, 'a.opus'],
    ['a sound in Ogg under another name', of.OGG, 'a.mp3'],
    ['a sound', of.MP3, 'a.mp3'],
    ['a sound from a pipe', of.PIPED_WAV, 'a.wav'],
    ['a sound that we do not recognise', UNKNOWN, 'a.mp3'],
    ['a video that we do not recognise', UNKNOWN, 'a.mpg'],
    ['an archive that we do not recognise', UNKNOWN, 'a.tar'],
    ['a mesh', of.GLB, 'a.glb'],
    ['a mesh as text', text('v 1 2 3'), 'a.obj'],
    ['a mesh in another format as text', text('solid x'), 'a.stl'],
    ['numbers', of.SAFETENSORS, 'w.safetensors'],
    ['numbers in an archive', of.ZIP, 'w.npz'],
    ['a document in an archive', of.ZIP, 'a.docx'],
    ['a document of pure ASCII', of.PDF, 'a.pdf'],
    ['text', text('a fox'), 'a.txt'],
    ['text that begins like a bitmap', text('BMW in the rain'), 'a.txt'],
    ['text in an old encoding that begins like a bitmap', Buffer.from('BMühl und Käse', 'latin1'), 'a.txt'],
    ['text in UTF-16', Buffer.from('\uFEFFa fox', 'utf16le'), 'a.txt'],
    ['text that is cut within a character', text('é'.repeat(3_000)).subarray(0, 4_097), 'a.txt'],
    ['a page that a workflow wrote as text', of.HTML, 'a.txt'],
    ['a page', of.HTML, 'a.html'],
    ['an error in JSON, as JSON', of.ERROR_JSON, 'a.json'],
    ['JSON without a name', text('{"width":3}'), 'result'],
    ['words without a name', text('a fox'), 'caption'],
    ['a script', text('#!/bin/sh'), 'a.sh'],
    ['a program without a name', of.EXE, 'a'],
    ['noise without a name', UNKNOWN, 'a.bin'],
    ['noise of an unknown kind', UNKNOWN, 'a.xyz'],
  ])('is %s', async (_, content, name) => {
    expect(await faultOf(content, name)).toBeUndefined();
    expect(await faultOf(content, name, 'output', 7)).toBeUndefined();
    expect(await faultOf(content, name, 'application/octet-stream', 1)).toBeUndefined();
  });
});
