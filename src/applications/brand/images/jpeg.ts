// JPEG (ITU-T T.81): reads the coefficients of the picture, and writes a new file from them as one baseline scan. Nothing is lost, and
// nothing else of the file is left: no comments, EXIF with its place and thumbnail, color profiles, what hides between the compressed data,
// and what is behind the end.
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { imageLimits } from '../limits.ts';
import { assertSize, type CheckedImage, damaged, ImageFault } from './image-fault.ts';
import { type Component, type Decoder, decoderOf, type Frame, readScan, type Scan } from './jpeg-scan.ts';
import { writeFrame } from './jpeg-writer.ts';

const [SOI, EOI, SOS, DQT, DHT, DRI, ADOBE] = [0xd8, 0xd9, 0xda, 0xdb, 0xc4, 0xdd, 0xee];
/** Baseline, extended and progressive; every browser decodes them. */
const [PROGRESSIVE, ...OTHER_FRAMES] = [0xc2, 0xc0, 0xc1];
/** More are a bomb: each can be some bytes that go through the whole picture. */
const MAX_SCANS = 40;

export const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;

/** What the segments say until the next one changes it. */
interface State {
  frame?: Frame;
  adobe?: Buffer;
  tables: Map<number, Buffer>;
  /** DC tables by their number, AC tables by their number and 16. */
  decoders: Map<number, Decoder>;
  restartInterval: number;
  scans: number;
}

/** Throws ImageFault. */
export function checkJpeg(bytes: Buffer): CheckedImage {
  const state: State = { tables: new Map(), decoders: new Map(), restartInterval: 0, scans: 0 };
  for (let at = 2; at + 4 <= bytes.length || bytes[at + 1] === EOI; ) {
    const code = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) throw damaged('JPEG');
    if (code === 0xff) {
      at += 1; // a marker may follow fill bytes
      continue;
    }
    if (code === EOI) return written(state);
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const data = bytes.subarray(at + 4, end);
    if (end > bytes.length || end < at + 4) break;
    at = end;
    if (code !== SOS) readSegment(code, data, state);
    else {
      at = endOfScan(bytes, end);
      startScan(data, bytes.subarray(end, at), state);
    }
  }
  throw damaged('JPEG');
}

function written({ frame, adobe, scans }: State): CheckedImage {
  if (!frame || scans === 0 || frame.components.some(({ table }) => !table)) throw damaged('JPEG');
  const marker = (code: number) => Buffer.from([0xff, code]);
  const parts = [marker(SOI), ...(adobe ? [adobe] : []), ...writeFrame(frame), marker(EOI)];
  const bytes = Buffer.concat(parts);
  // The file may be sent again, as an export of the configuration.
  if (bytes.length > imageLimits.bytes)
    throw new ImageFault(faultMessage('picture-recoded', { maximum: imageLimits.bytes / 1000 }));
  return { kind: 'jpg', bytes, width: frame.width, height: frame.height };
}

function readSegment(code: number, data: Buffer, state: State): void {
  if (code === PROGRESSIVE || OTHER_FRAMES.includes(code)) {
    if (state.frame) throw damaged('JPEG');
    state.frame = readFrame(data, code === PROGRESSIVE);
  } else if (code === DQT) readTables(data, state);
  else if (code === DHT) readDecoders(data, state);
  else if (code === DRI) state.restartInterval = data.readUInt16BE(0);
  else if (code === ADOBE && isAdobe(data)) state.adobe = Buffer.concat([Buffer.from([0xff, ADOBE, 0, 14]), data]);
  else if (!isLeftOut(code)) throw new ImageFault(faultMessage('picture-jpeg'));
}

/** Application data and comments. */
const isLeftOut = (code: number) => (code >= 0xe0 && code <= 0xef) || code === 0xfe;
/** Says how the colors are stored; without it some pictures have wrong ones. */
const isAdobe = (data: Buffer) => data.length === 12 && data.toString('latin1', 0, 5) === 'Adobe';

function readFrame(data: Buffer, isProgressive: boolean): Frame {
  const count = data[5] ?? 0;
  if (data[0] !== 8 || ![1, 3, 4].includes(count) || data.length !== 6 + 3 * count) throw damaged('JPEG');
  const [height, width] = [data.readUInt16BE(1), data.readUInt16BE(3)];
  assertSize(width, height);
  const parts = Array.from({ length: count }, (_, at) => data.subarray(6 + 3 * at, 9 + 3 * at));
  const factors = parts.map(([, both = 0]) => (count === 1 ? [1, 1] : [both >> 4, both & 15]));
  if (factors.flat().some((factor) => factor < 1 || factor > 4)) throw damaged('JPEG');
  // One MCU has at most ten blocks (B.2.3).
  if (factors.reduce((sum, [h = 0, v = 0]) => sum + h * v, 0) > 10) throw damaged('JPEG');
  const [maxH, maxV] = [0, 1].map((at) => Math.max(...factors.map((one) => one[at] ?? 0))) as [number, number];
  const [mcuColumns, mcuRows] = [Math.ceil(width / (8 * maxH)), Math.ceil(height / (8 * maxV))];
  const components = parts.map(([id = 0, , tableId = 0], at): Component => {
    const [h, v] = factors[at] as [number, number];
    const [columns, rows] = [mcuColumns * h, mcuRows * v];
    return {
      id,
      h,
      v,
      tableId,
      columns,
      rows,
      ownColumns: Math.ceil(Math.ceil((width * h) / maxH) / 8),
      ownRows: Math.ceil(Math.ceil((height * v) / maxV) / 8),
      coefficients: new Int16Array(columns * rows * 64),
    };
  });
  return { width, height, isProgressive, mcuColumns, mcuRows, components };
}

function readTables(data: Buffer, { tables }: State): void {
  for (let at = 0; at < data.length; ) {
    const head = data[at] ?? 0;
    const end = at + 1 + (head >> 4 === 0 ? 64 : 128);
    if (head >> 4 > 1 || (head & 15) > 3 || end > data.length) throw damaged('JPEG');
    tables.set(head & 15, data.subarray(at + 1, end));
    at = end;
  }
}

function readDecoders(data: Buffer, { decoders }: State): void {
  for (let at = 0; at < data.length; ) {
    const counts = data.subarray(at + 1, at + 17);
    const end = at + 17 + counts.reduce((sum, count) => sum + count, 0);
    if (counts.length < 16 || end > data.length) throw damaged('JPEG');
    decoders.set(data[at] ?? 0, decoderOf(counts, data.subarray(at + 17, end)));
    at = end;
  }
}

function startScan(head: Buffer, data: Buffer, state: State): void {
  const { frame, tables, decoders, restartInterval } = state;
  const count = head[0] ?? 0;
  state.scans += 1;
  if (!frame || count < 1 || count > 4 || head.length !== 4 + 2 * count || state.scans > MAX_SCANS)
    throw damaged('JPEG');
  const components = Array.from({ length: count }, (_, at): Scan['components'][0] => {
    const [id, choice = 0] = head.subarray(1 + 2 * at, 3 + 2 * at);
    const component = frame.components.find((one) => one.id === id);
    const table = component && (component.table ?? tables.get(component.tableId));
    if (!component || !table) throw damaged('JPEG');
    component.table = table;
    return { component, dc: decoders.get(choice >> 4), ac: decoders.get(16 + (choice & 15)) };
  });
  const [from = 0, to = 0, bits = 0] = head.subarray(1 + 2 * count);
  const scan: Scan = { components, from, to, high: bits >> 4, low: bits & 15, restartInterval };
  const isBand = from > 0 ? to >= from && to < 64 && count === 1 : to === 0;
  if (frame.isProgressive && (!isBand || scan.low > 13)) throw damaged('JPEG');
  readScan(data, scan, frame);
}

/** The next marker behind the compressed data, in which 0xff is followed by 0 or is a restart (B.1.1.5). */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  throw damaged('JPEG');
}
