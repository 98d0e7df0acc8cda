// The options that say when something begins and ends.
import { z } from 'zod';
import { isStorableTime } from '../base/storage/storable-text.ts';
import { type Input, UsageError } from './command.ts';

export const times = {
  since: { type: 'string', value: 'TIME', help: 'when it begins, such as 2026-12-01T00:00:00Z; default: now' },
  until: { type: 'string', value: 'TIME', help: 'when it ends, or never; default: as it is, or never' },
} as const;

// RFC 3339, section 5.6.
const instant = z.iso.datetime({ offset: true });

/** Throws UsageError for text that is no time. */
export function timeOption(input: Input, name: string): Date | null {
  const text = input.text(name);
  if (!text || text === NEVER) return null;
  const at = new Date(text);
  if (instant.safeParse(text).success && isStorableTime(at)) return at;
  throw new UsageError(`--${name} is no time such as 2026-12-31T00:00:00Z`);
}

/** `--until never` ends an end. */
const NEVER = 'never';

/** The times that the options say; those of `held`, what the user has already, where they say nothing. */
export function periodOption(input: Input, held?: Period | null): Period {
  const isSilent = input.text('since') === undefined && input.text('until') === undefined;
  if (isSilent && held) return { since: held.since, until: held.until };
  return { since: timeOption(input, 'since'), until: timeOption(input, 'until') };
}

export interface Period {
  since: Date | null;
  until: Date | null;
}
