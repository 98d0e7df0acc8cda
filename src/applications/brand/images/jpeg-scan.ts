// Reads the coefficients of a JPEG from its scans: baseline, extended and progressive (ITU-T T.81, annexes F and G). They are not
// turned into pixels: jpeg-writer.ts writes the same coefficients again, without loss.
import { damaged } from './image-fault.ts';

export interface Component {
  id: number;
  /** Sampling factors. */
  h: number;
  v: number;
  /** The number of its quantization table in the file. */
  tableId: number;
  /** The quantization table at the start of its first scan. */
  table?: Buffer;
  /** Blocks in a line and in a column, in full MCUs. */
  columns: number;
  rows: number;
  /** The same, in a scan of this component alone. */
  ownColumns: number;
  ownRows: number;
  /** 64 for each block, in the zigzag order of the file. */
  coefficients: Int16Array;
}

export interface Frame {
  width: number;
  height: number;
  isProgressive: boolean;
  mcuColumns: number;
  mcuRows: number;
  components: Component[];
}

/** A Huffman table: for each length the first code, the position of its value, and the last code. */
export interface Decoder {
  first: number[];
  start: number[];
  last: number[];
  values: Buffer;
}

export interface Scan {
  components: { component: Component; dc: Decoder | undefined; ac: Decoder | undefined }[];
  /** The range of coefficients, and the bits before and after this scan. */
  from: number;
  to: number;
  high: number;
  low: number;
  restartInterval: number;
}

/** @param counts the number of codes of each length, from 1 to 16 bits */
export function decoderOf(counts: Buffer, values: Buffer): Decoder {
  const table: Decoder = { first: [], start: [], last: [], values };
  let [code, position] = [0, 0];
  for (const count of counts) {
    table.first.push(code);
    table.start.push(position);
    table.last.push(code + count - 1);
    code = (code + count) * 2;
    position += count;
  }
  return table;
}

/** Reads the bits of a scan; throws after its end. */
class Bits {
  readonly #bytes: Buffer;
  #at = 0;
  #byte = 0;
  #left = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bit(): number {
    if (this.#left === 0) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || (byte === 0xff && this.#bytes[this.#at + 1] !== 0)) throw damaged('JPEG');
      this.#at += byte === 0xff ? 2 : 1;
      this.#byte = byte;
      this.#left = 8;
    }
    this.#left -= 1;
    return (this.#byte >> this.#left) & 1;
  }

  bits(count: number): number {
    let value = 0;
    for (let n = 0; n < count; n += 1) value = value * 2 + this.bit();
    return value;
  }

  /** A signed number of this many bits (F.2.2.1). */
  signed(count: number): number {
    if (count === 0) return 0;
    const value = this.bits(count);
    return value < 2 ** (count - 1) ? value - 2 ** count + 1 : value;
  }

  symbol({ first, start, last, values }: Decoder): number {
    let code = 0;
    for (let length = 0; length < 16; length += 1) {
      code = code * 2 + this.bit();
      if (code > (last[length] as number)) continue;
      const value = values[(start[length] as number) + code - (first[length] as number)];
      if (value === undefined) break;
      return value;
    }
    throw damaged('JPEG');
  }

  /** Continues after the next restart marker. */
  restart(): void {
    this.#left = 0;
    while (this.#at < this.#bytes.length) {
      const isMarker = this.#bytes[this.#at] === 0xff && ((this.#bytes[this.#at + 1] ?? 0) & 0xf8) === 0xd0;
      this.#at += isMarker ? 2 : 1;
      if (isMarker) return;
    }
    throw damaged('JPEG');
  }
}

type ReadBlock = (bits: Bits, block: Int16Array, dc: Decoder, ac: Decoder, state: State) => void;

/** The state that the blocks of a scan share. */
interface State extends Pick<Scan, 'from' | 'to' | 'low'> {
  /** The DC coefficient of the previous block of the current component. */
  prediction: number;
  /** The number of further blocks without coefficients (end-of-band run). */
  endOfBand: number;
}

const NO_TABLE = decoderOf(Buffer.alloc(16), Buffer.alloc(0));

/** Reads the coefficients of one scan. Throws ImageFault for fewer data than the picture needs. */
export function readScan(data: Buffer, scan: Scan, frame: Frame): void {
  const bits = new Bits(data);
  const read = readerOf(scan, frame);
  const { from, to, low, restartInterval } = scan;
  const states = scan.components.map((): State => ({ from, to, low, prediction: 0, endOfBand: 0 }));
  const one = scan.components.length === 1 ? scan.components[0]?.component : undefined;
  const [columns, rows] = one ? [one.ownColumns, one.ownRows] : [frame.mcuColumns, frame.mcuRows];
  for (let mcu = 0; mcu < columns * rows; mcu += 1) {
    if (restartInterval > 0 && mcu > 0 && mcu % restartInterval === 0) {
      bits.restart();
      for (const state of states) Object.assign(state, { prediction: 0, endOfBand: 0 });
    }
    const [column, row] = [mcu % columns, Math.floor(mcu / columns)];
    for (const [at, { component, dc = NO_TABLE, ac = NO_TABLE }] of scan.components.entries()) {
      const [h, v] = one ? [1, 1] : [component.h, component.v];
      for (let y = row * v; y < (row + 1) * v; y += 1)
        for (let x = column * h; x < (column + 1) * h; x += 1) {
          const start = (y * component.columns + x) * 64;
          read(bits, component.coefficients.subarray(start, start + 64), dc, ac, states[at] as State);
        }
    }
  }
}

function readerOf({ from, high }: Scan, { isProgressive }: Frame): ReadBlock {
  if (!isProgressive) return readWhole;
  if (from === 0) return high === 0 ? readDc : refineDc;
  return high === 0 ? readAc : refineAc;
}

const readWhole: ReadBlock = (bits, block, dc, ac, state) => {
  state.prediction += bits.signed(bits.symbol(dc) & 15);
  block[0] = state.prediction;
  for (let k = 1; k < 64; k += 1) {
    const symbol = bits.symbol(ac);
    const [run, size] = [symbol >> 4, symbol & 15];
    if (size === 0 && run < 15) return;
    k += run;
    if (size === 0) continue;
    if (k > 63) throw damaged('JPEG');
    block[k] = bits.signed(size);
  }
};

const readDc: ReadBlock = (bits, block, dc, _ac, state) => {
  state.prediction += bits.signed(bits.symbol(dc) & 15);
  block[0] = state.prediction * 2 ** state.low;
};

const refineDc: ReadBlock = (bits, block, _dc, _ac, { low }) => {
  if (bits.bit()) block[0] = (block[0] as number) | (1 << low);
};

const readAc: ReadBlock = (bits, block, _dc, ac, state) => {
  if (state.endOfBand > 0) {
    state.endOfBand -= 1;
    return;
  }
  for (let k = state.from; k <= state.to; k += 1) {
    const symbol = bits.symbol(ac);
    const [run, size] = [symbol >> 4, symbol & 15];
    if (size === 0 && run < 15) {
      state.endOfBand = 2 ** run - 1 + bits.bits(run);
      return;
    }
    k += run;
    if (size === 0) continue;
    if (k > state.to) throw damaged('JPEG');
    block[k] = bits.signed(size) * 2 ** state.low;
  }
};

/** One more bit of each coefficient that is not 0, and new ones of one bit (G.1.2.3). */
const refineAc: ReadBlock = (bits, block, _dc, ac, state) => {
  const bit = 1 << state.low;
  const refine = (k: number) => {
    const value = block[k] as number;
    if (bits.bit() && (value & bit) === 0) block[k] = value + (value > 0 ? bit : -bit);
  };
  let k = state.from;
  while (state.endOfBand === 0 && k <= state.to) {
    const symbol = bits.symbol(ac);
    let run = symbol >> 4;
    const isNew = (symbol & 15) !== 0;
    if (!isNew && run < 15) {
      state.endOfBand = 2 ** run + bits.bits(run);
      break;
    }
    const value = isNew ? (bits.bit() ? bit : -bit) : 0;
    for (; k <= state.to; k += 1) {
      if (block[k] !== 0) refine(k);
      else if (run === 0) break;
      else run -= 1;
    }
    if (k > state.to && isNew) throw damaged('JPEG');
    if (isNew) block[k] = value;
    k += 1;
  }
  if (state.endOfBand === 0) return;
  for (; k <= state.to; k += 1) if (block[k] !== 0) refine(k);
  state.endOfBand -= 1;
};
