// The pictures that lie over the rows of a sheet, as a drawing of the workbook.

import { DECLARATION, relation, RELATIONS, relationsXml, xmlText } from './package-xml.ts';

/** `name`: the file of the picture in the workbook. */
export type Picture = {
  readonly name: string;
  /** Column and row, counted from 0 and including the header. */
  readonly column: number;
  readonly row: number;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly text: string;
};

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
/** English metric units in a pixel. */
const UNITS = 9_525;
const MARGIN = 2 * UNITS;

export function drawingXml(pictures: readonly Picture[]): string {
  return `${DECLARATION}<xdr:wsDr xmlns:xdr="${DRAWING}/spreadsheetDrawing" xmlns:a="${DRAWING}/main" xmlns:r="${RELATIONS}">${pictures.map(anchor).join('')}</xdr:wsDr>`;
}

export const drawingRelations = (pictures: readonly Picture[]): string =>
  relationsXml(pictures.map(({ name }, at) => relation(`rId${at + 1}`, 'image', `../media/${name}`)));

function anchor({ column, row, width, height, text }: Picture, at: number): string {
  const from = `<xdr:from><xdr:col>${column}</xdr:col><xdr:colOff>${MARGIN}</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>${MARGIN}</xdr:rowOff></xdr:from>`;
  const size = `cx="${width * UNITS}" cy="${height * UNITS}"`;
  const shown = xmlText(text);
  return `<xdr:oneCellAnchor>${from}<xdr:ext ${size}/><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="${at + 2}" name="${shown}" descr="${shown}"/><xdr:cNvPicPr><a:picLocks noChangeAspect="1"/></xdr:cNvPicPr></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId${at + 1}"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></xdr:spPr></xdr:pic><xdr:clientData/></xdr:oneCellAnchor>`;
}
