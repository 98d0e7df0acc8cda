// The task of the worker thread that reads configuration files (file-reader.ts).
import type { Fault } from '../base/texts/faults.ts';
import { parseFile } from './file.ts';
import type { FileFault } from './yaml.ts';

export interface ParseTask {
  text: string;
  /** With all aliases expanded. */
  maxSize: number;
  /** Faults that the plan found, whose positions are wanted instead of the content. */
  locate?: readonly Fault[];
}

export interface ParseResult {
  /** JSON of what the file declares: the settings, then a few entries of one section each. */
  pieces: string[];
  faults: FileFault[];
}

const MAX_FAULTS = 100;
const PIECE = 50;

/** Parses and checks a file. The declarations leave the thread as text, so that the receiver can read it in several turns. */
export async function perform({ text, maxSize, locate }: ParseTask): Promise<ParseResult> {
  const file = parseFile(text, { maxSize });
  if (locate) return { pieces: [], faults: await file.locate(locate.slice(0, MAX_FAULTS)) };
  if (file.faults.length > 0) return { pieces: [], faults: file.faults.slice(0, MAX_FAULTS) };
  const { settings, ...sections } = file.declared;
  const pieces = [JSON.stringify({ settings })];
  for (const [section, entries] of Object.entries(sections)) {
    for (let start = 0; start < entries.length; start += PIECE)
      pieces.push(JSON.stringify({ [section]: entries.slice(start, start + PIECE) }));
  }
  return { pieces, faults: [] };
}
