// Text as declarations have it: a line that both databases can store, a document.

import { z } from 'zod';
import { rule } from '../texts/faults.ts';

/** 1 to `max` characters, without control characters (Unicode category Cc) and halves of a character. */
export const lineUpTo = (max: number, text = z.string()) =>
  text
    .min(1)
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters to reject, as the OpenAPI document can say it
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, rule('control-characters'))
    .refine((value) => !/\p{Cs}/u.test(value), rule('half-character'));
export const line = lineUpTo(255);

/** A document of at least one character. Its lines end as they do in the configuration file: a form sends CR LF, which no XML parser tells apart. */
export const documentUpTo = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .overwrite((text) => text.replace(/\r\n?/g, '\n'));

// Bidirectional overrides and characters of no width reorder or hide parts of a name; joiners belong to some scripts and to emoji.
const HIDING = /[\p{Bidi_Control}\u00ad\u115f\u1160\u200b\u2060-\u2064\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u;

/** The same for a name that people read: every character of it is seen. */
export const nameUpTo = (max: number, text = z.string()) =>
  lineUpTo(max, text).refine((value) => !HIDING.test(value), rule('invisible-characters'));
