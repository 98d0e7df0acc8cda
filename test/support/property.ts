// fast-check with one seed for all, so that a red run is red again and a green one stays green.
// PROPERTY_SEED=$RANDOM looks elsewhere.
import fc from 'fast-check';
import { isLongRun } from './long-run.ts';

const FIRST_SURROGATE = 0xd8_00;
const SURROGATES = 0x8_00;

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_121) });

/** The number of cases: all in a long run, the first fifth of them in `npm test`. */
export const numRuns = (count: number) => (isLongRun ? count : Math.ceil(count / 5));

/** Of each code point but half a surrogate pair. fast-check's own `unit: 'binary'` is the same, but makes a map of all of them: 1 s. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7_ff })
  .map((index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES), indexOf);

function indexOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('Not one character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}

export default fc;
