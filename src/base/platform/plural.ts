// A count with its noun, for every text that a person reads. Templates have `plural` too.

const rules = new Intl.PluralRules('en-US');
const numbers = new Intl.NumberFormat('en-US');

/** `1 passkey`, `2 passkeys`, `1,000 entries`. `other` is the plural when an "s" is not enough. */
export function plural(count: number, one: string, other = `${one}s`): string {
  return `${numbers.format(count)} ${rules.select(count) === 'one' ? one : other}`;
}
