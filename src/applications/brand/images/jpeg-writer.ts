// Writes the coefficients of a JPEG as one baseline scan, with the Huffman tables that suit them best (ITU-T T.81, annexes F and K.2). The
// same coefficients always give the same bytes.
import { damaged } from './image-fault.ts';
import type { Component, Frame } from './jpeg-scan.ts';

/** The segments from the quantization tables to the end of the compressed data. */
export function writeFrame(frame: Frame): Buffer[] {
  const { components } = frame;
  const tables = [...new Map(components.map(({ table }) => [key(table), table ?? Buffer.alloc(0)])).entries()];
  const tableOf = ({ table }: Component) => tables.findIndex(([one]) => one === key(table));
  const isBaseline = tables.every(([, table]) => table.length === 64);
  const counts = [0, 1, 2, 3].map(() => new Uint32Array(257));
  forEachSymbol(frame, (table, symbol) => {
    (counts[table] as Uint32Array)[symbol] = ((counts[table] as Uint32Array)[symbol] as number) + 1;
  });
  const codes = counts.map(codesOf);
  const used = components.length === 1 ? [0, 2] : [0, 1, 2, 3];
  return [
    ...tables.map(([, table], id) =>
      segment(0xdb, Buffer.concat([Buffer.from([(table.length === 64 ? 0 : 16) + id]), table])),
    ),
    segment(isBaseline ? 0xc0 : 0xc1, frameHeader(frame, tableOf)),
    ...used.map((table) => {
      const { lengths, values } = codes[table] as Codes;
      // Two tables for the DC coefficients, then two for the others.
      const id = (table < 2 ? 0 : 16) + (table % 2);
      return segment(0xc4, Buffer.from([id, ...lengths, ...values]));
    }),
    segment(0xda, scanHeader(components)),
    writeScan(frame, codes),
  ];
}

const key = (table: Buffer | undefined) => table?.toString('latin1') ?? '';

function segment(code: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

function frameHeader({ width, height, components }: Frame, tableOf: (component: Component) => number): Buffer {
  const size = Buffer.from([8, 0, 0, 0, 0, components.length]);
  size.writeUInt16BE(height, 1);
  size.writeUInt16BE(width, 3);
  return Buffer.concat([size, ...components.map((one) => Buffer.from([one.id, one.h * 16 + one.v, tableOf(one)]))]);
}

function scanHeader(components: readonly Component[]): Buffer {
  const choices = components.flatMap(({ id }, at) => [id, at === 0 ? 0 : 0x11]);
  return Buffer.from([components.length, ...choices, 0, 63, 0]);
}

type Visit = (table: number, symbol: number, value: number, bits: number) => void;

/** Each symbol in the order of the file, with the number behind it. Tables: 0 and 1 for DC, 2 and 3 for AC. */
function forEachSymbol({ components, mcuColumns, mcuRows }: Frame, visit: Visit): void {
  const predictions = components.map(() => 0);
  for (let mcu = 0; mcu < mcuColumns * mcuRows; mcu += 1) {
    const [column, row] = [mcu % mcuColumns, Math.floor(mcu / mcuColumns)];
    for (const [at, { h, v, columns, coefficients }] of components.entries())
      for (let y = row * v; y < (row + 1) * v; y += 1)
        for (let x = column * h; x < (column + 1) * h; x += 1) {
          const start = (y * columns + x) * 64;
          const block = coefficients.subarray(start, start + 64);
          writeBlock(block, predictions[at] as number, at === 0 ? 0 : 1, visit);
          predictions[at] = block[0] as number;
        }
  }
}

function writeBlock(block: Int16Array, prediction: number, table: number, visit: Visit): void {
  const difference = (block[0] as number) - prediction;
  const size = sizeOf(difference, 11);
  visit(table, size, difference, size);
  let run = 0;
  for (let k = 1; k < 64; k += 1) {
    const value = block[k] as number;
    if (value === 0) {
      run += 1;
      continue;
    }
    for (; run > 15; run -= 16) visit(table + 2, 0xf0, 0, 0);
    const bits = sizeOf(value, 10);
    visit(table + 2, run * 16 + bits, value, bits);
    run = 0;
  }
  if (run > 0) visit(table + 2, 0, 0, 0);
}

/** How many bits the number has; more than `max` are no 8-bit picture. */
function sizeOf(value: number, max: number): number {
  const bits = value === 0 ? 0 : 32 - Math.clz32(Math.abs(value));
  if (bits > max) throw damaged('JPEG');
  return bits;
}

interface Codes {
  /** How many codes there are of each length, from 1 to 16 bits. */
  lengths: number[];
  /** In the order of their codes. */
  values: number[];
  codeOf: Map<number, { code: number; bits: number }>;
}

/** The best code for these symbols, of at most 16 bits (K.2). */
function codesOf(counts: Uint32Array): Codes {
  const bitsOf = codeLengths(counts);
  const lengths = new Array<number>(33).fill(0);
  for (const bits of bitsOf) if (bits > 0) lengths[bits] = (lengths[bits] as number) + 1;
  for (let bits = 32; bits > 16; bits -= 1)
    while ((lengths[bits] as number) > 0) {
      let shorter = bits - 2;
      while (lengths[shorter] === 0) shorter -= 1;
      const add = (at: number, count: number) => {
        lengths[at] = (lengths[at] as number) + count;
      };
      add(bits, -2);
      add(bits - 1, 1);
      add(shorter + 1, 2);
      add(shorter, -1);
    }
  // The reserved symbol, so that no code has only ones.
  let longest = 16;
  while (lengths[longest] === 0) longest -= 1;
  lengths[longest] = (lengths[longest] as number) - 1;

  const values = [...bitsOf.keys()]
    .filter((symbol) => symbol < 256 && (bitsOf[symbol] as number) > 0)
    .sort((a, b) => (bitsOf[a] as number) - (bitsOf[b] as number) || a - b);
  const codeOf: Codes['codeOf'] = new Map();
  let [code, next] = [0, 0];
  for (let bits = 1; bits <= 16; bits += 1, code *= 2)
    for (let n = 0; n < (lengths[bits] as number); n += 1, code += 1, next += 1)
      codeOf.set(values[next] as number, { code, bits });
  return { lengths: lengths.slice(1, 17), values, codeOf };
}

/** Of Huffman's tree, with one symbol more. */
function codeLengths(counts: Uint32Array): number[] {
  const bits = new Array<number>(257).fill(0);
  let trees = [...counts].flatMap((count, symbol) => (count > 0 && symbol < 256 ? [{ count, symbols: [symbol] }] : []));
  trees.push({ count: 0, symbols: [256] });
  if (trees.length === 1) bits[256] = 1;
  while (trees.length > 1) {
    trees = trees.sort((a, b) => a.count - b.count || (b.symbols[0] as number) - (a.symbols[0] as number));
    const [one, other, ...rest] = trees as [(typeof trees)[0], (typeof trees)[0]];
    const symbols = [...one.symbols, ...other.symbols];
    for (const symbol of symbols) bits[symbol] = (bits[symbol] as number) + 1;
    trees = [...rest, { count: one.count + other.count, symbols }];
  }
  return bits;
}

function writeScan(frame: Frame, codes: readonly Codes[]): Buffer {
  let bytes = Buffer.alloc(1 << 16);
  let [length, byte, filled] = [0, 0, 0];
  const put = (value: number, count: number) => {
    for (let at = count - 1; at >= 0; at -= 1) {
      byte = byte * 2 + ((value >> at) & 1);
      filled += 1;
      if (filled < 8) continue;
      if (length + 2 > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
      bytes[length] = byte;
      length += 1;
      if (byte === 0xff) {
        bytes[length] = 0;
        length += 1;
      }
      byte = 0;
      filled = 0;
    }
  };
  forEachSymbol(frame, (table, symbol, value, bits) => {
    const { code = 0, bits: count = 0 } = codes[table]?.codeOf.get(symbol) ?? {};
    put(code, count);
    put(value < 0 ? value + 2 ** bits - 1 : value, bits);
  });
  while (filled > 0) put(1, 1);
  return bytes.subarray(0, length);
}
