// Pictures side by side as one small picture, for terminals that show pictures.

/** Four bytes a pixel. */
export type Strip = {
  readonly width: number;
  readonly height: number;
  readonly png: Uint8Array;
  readonly rgba: Uint8Array;
};

/** Pictures that cannot be decoded are left out; undefined if that leaves none. */
export type MakeStrip = (pictures: readonly Uint8Array[]) => Promise<Strip | undefined>;

const HEIGHT = 120;
const GAP = 8;
const WIDEST = 240;

/** undefined if the optional package that decodes pictures is not installed for this machine. */
export async function openStrips(): Promise<MakeStrip | undefined> {
  const sharp = await import('sharp').then((module) => module.default).catch(() => undefined);
  if (sharp === undefined) return undefined;
  const smallOf = async (picture: Uint8Array) => {
    try {
      const small = sharp(picture).autoOrient().resize(WIDEST, HEIGHT, { fit: 'inside' }).png();
      return await small.toBuffer({ resolveWithObject: true });
    } catch {
      return undefined;
    }
  };
  return async (pictures) => {
    let width = -GAP;
    const placed = (await Promise.all(pictures.map(smallOf))).flatMap((small) => {
      if (small === undefined) return [];
      const left = width + GAP;
      width = left + small.info.width;
      return [{ input: small.data, left, top: 0 }];
    });
    if (placed.length === 0) return undefined;
    const background = { r: 0, g: 0, b: 0, alpha: 0 };
    const whole = await sharp({ create: { width, height: HEIGHT, channels: 4, background } })
      .composite(placed)
      .png()
      .toBuffer();
    const rgba = await sharp(whole).ensureAlpha().raw().toBuffer();
    return { width, height: HEIGHT, png: whole, rgba };
  };
}
