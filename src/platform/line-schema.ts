// Text of one line that both databases can store, as declarations have it.
import { z } from 'zod';

/** 1 to `max` characters, without control characters (Unicode category Cc) and halves of a character. */
export const lineUpTo = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters to reject, as the OpenAPI document can say it
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters')
    .refine((value) => !/\p{Cs}/u.test(value), 'must not contain half a character');
export const line = lineUpTo(255);
