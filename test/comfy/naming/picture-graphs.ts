// Graphs of pictures that are loaded: what they are made of, and the sizes that they are scaled to.

import { link, node, usualGraph, type NamedGraph } from './usual-graph.ts';

export const PICTURE_GRAPHS: readonly NamedGraph[] = [
  [
    'picture scaled to the size of what is made',
    usualGraph({
      5: node('WanImageToVideo', {
        width: link(20, 1),
        height: link(20, 2),
        length: 81,
        start_image: link(20),
      }),
      20: node('ImageResizeKJv2', { image: link(21), width: 640, height: 480, keep_proportion: 'crop' }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { width: '20.width', height: '20.height', image: '21.image' },
  ],
  [
    'picture padded to a size',
    usualGraph({
      5: node('VAEEncode', { pixels: link(20), vae: link(4, 2) }),
      20: node('ResizeAndPadImage', { image: link(21), target_width: 640, target_height: 480 }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { width: '20.target_width', height: '20.target_height' },
  ],
  [
    'frames whose sizes are told to others',
    usualGraph({
      5: node('WanVideoImageToVideoEncode', {
        width: link(20, 1),
        height: link(20, 2),
        num_frames: 81,
        start_image: link(20),
        end_image: link(22),
      }),
      20: node('ImageResizeKJv2', { image: link(21), width: 640, height: 480 }),
      21: node('LoadImage', { image: 'a.png' }),
      22: node('ImageResizeKJv2', { image: link(23), width: link(20, 1), height: link(20, 2) }),
      23: node('LoadImage', { image: 'b.png' }),
    }),
    { start_image: '21.image', end_image: '23.image', image: undefined },
  ],
  [
    'picture that is only a mask',
    usualGraph({
      5: node('VAEEncodeForInpaint', { pixels: link(20), vae: link(4, 2), mask: link(22) }),
      20: node('LoadImage', { image: 'a.png' }),
      21: node('LoadImage', { image: 'b.png' }),
      22: node('ImageToMask', { image: link(21), channel: 'red' }),
    }),
    { image: '20.image', mask: '21.image' },
  ],
  [
    'titles that say what is loaded',
    usualGraph({
      5: node('VAEEncode', { pixels: link(20), vae: link(4, 2) }),
      20: node('LoadImage', { image: 'a.png' }, 'Load Target Image'),
      21: node('LoadImage', { image: 'b.png' }, 'Load Clothing'),
      22: node('ReActorFaceSwap', { input_image: link(8), source_image: link(21) }),
      9: node('SaveImage', { images: link(22), filename_prefix: 'x' }),
    }),
    { target_image: '20.image', clothing: '21.image', image: undefined },
  ],
  [
    'picture scaled to a size that stands in two nodes',
    usualGraph({
      5: node('WanVideoImageToVideoEncode', {
        width: 832,
        height: 480,
        num_frames: 81,
        start_image: link(20),
      }),
      20: node('ImageResizeKJv2', { image: link(21), width: 832, height: 480 }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { width: '?', height: '?', image: '21.image' },
  ],
];
