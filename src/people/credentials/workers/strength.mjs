// The task of the password strength worker thread (../worker.ts): zxcvbn-ts takes 40 ms to load its dictionaries and up
// to 270 ms for one estimate.
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** The time of an estimate grows with the square of the length, and a longer password is not guessed anyway. */
const MAX_ESTIMATED = 100;
const commonPasswords = new Set(dictionary['passwords-common']);
/** @type {ZxcvbnFactory | undefined} */
let zxcvbn;

/**
 * Without `known`, only `common` is computed.
 * @param {{ password: string, known?: readonly string[] }} task
 * @returns {{ common: boolean, score: number, warning: string | null, suggestions: string[] }}
 */
export function perform({ password, known }) {
  const common = isCommon(password.normalize('NFKC').toLowerCase());
  if (!known) return { common, score: 0, warning: null, suggestions: [] };
  zxcvbn ??= new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  const { score, feedback } = zxcvbn.check(password.slice(0, MAX_ESTIMATED), known);
  return { common, score: common ? Math.min(score, 1) : score, ...feedback };
}

/**
 * On the list of common passwords, or two of them put together, or one repeated, which spaces and hyphens make no less common.
 * @param {string} text
 */
function isCommon(text) {
  const has = (part) => commonPasswords.has(part);
  const units = Array.from({ length: Math.floor(text.length / 2) }, (_, index) => index + 1);
  return (
    isRepeated(text.replace(/[^\p{L}\p{N}]+/gu, '')) ||
    isRepeated(text) ||
    units.some((unit) => unit >= 4 && has(text.slice(0, unit)) && has(text.slice(unit))) ||
    units.some((unit) => text.length - unit >= 4 && has(text.slice(0, -unit)) && has(text.slice(-unit)))
  );
}

/**
 * A common password, once or several times.
 * @param {string} text
 */
function isRepeated(text) {
  return Array.from({ length: text.length }, (_, index) => text.slice(0, index + 1)).some(
    (unit) => commonPasswords.has(unit) && text === unit.repeat(text.length / unit.length),
  );
}
