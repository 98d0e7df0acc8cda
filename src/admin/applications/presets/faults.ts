// Faults of a declaration at the fields of the form that it was made of: one answer can be in several keys.
import { AppError, badRequest } from '../../../base/http/errors.ts';
import type { Fault } from '../../../base/texts/faults.ts';
import type { Preset } from './parts.ts';

/** Keys that a product derives from its address. */
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['client_uri', 'redirect_uris', 'post_logout_redirect_uris', 'backchannel_logout_uri'],
  ...['entity_id', 'acs_url'],
]);

/** Runs the registration. The faults that it throws get the fields of the preset. */
export async function withFaultsAtAnswers<Result>(preset: Preset, register: () => Promise<Result>): Promise<Result> {
  try {
    return await register();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_input')) throw error;
    const { text, advice, detail, faults } = error;
    throw badRequest('invalid_input', { message: text, advice, detail, faults: atAnswers(preset, faults) });
  }
}

/** Only the first one at an answer: an address that is wrong is wrong in every key. */
function atAnswers(preset: Preset, faults: readonly Fault[]): Fault[] {
  const moved = new Set<string>();
  return faults.flatMap((one) => {
    const name = answerOf(preset, one);
    if (name === undefined) return [one];
    if (moved.has(name)) return [];
    moved.add(name);
    return [{ ...one, path: [name] }];
  });
}

/** The field that the value of this key comes from; undefined for a key with a field of its own. */
function answerOf({ fields }: Preset, { path: [key = ''], code }: Fault): string | undefined {
  // In a configuration file the missing metadata is a fault of the entry, which its name stands for.
  if (code === 'sources') return fields.find(({ name }) => name === 'metadata_url')?.name;
  if (fields.some(({ name }) => name === key)) return undefined;
  if (key === 'client_name') return 'name';
  return ADDRESSES.has(String(key)) ? fields[0]?.name : undefined;
}
